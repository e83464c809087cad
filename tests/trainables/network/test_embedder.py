import pytest
import torch

from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.embedder import Embedder
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.training_loop.evaluation import Evaluator, embed
from tests.trainables.tiny_trials import ON_THE_CPU, tiny_trial


@pytest.fixture
def images(cache_folder):
    dataset = load_dataset(tiny_trial(cache_folder).dataset, cache_folder)
    return images_of_classes(dataset, dataset.test_classes, ON_THE_CPU)


@pytest.mark.parametrize("dim", [1, 2, 7, 513])
def test_an_embedding_may_have_any_dimension(images, dim):
    torch.manual_seed(0)
    embeddings = embed(Embedder(ConvSmall(), dim, TrainingSettings()), images)
    assert embeddings.shape == (len(images), dim)
    assert not embeddings.requires_grad


def test_evaluation_leaves_the_network_as_it_is(images):
    torch.manual_seed(0)
    embedder = Embedder(ConvSmall(), 8, TrainingSettings())
    before = {name: value.clone() for name, value in embedder.state_dict().items()}
    Evaluator(network=embedder, ks=(1,), fold=0).evaluate(images, "test", epoch=0)
    torch.testing.assert_close(embedder.state_dict(), before, rtol=0, atol=0)


def test_only_test_classes_have_the_scores_that_no_search_uses(images):
    torch.manual_seed(0)
    embedder = Embedder(ConvSmall(), 8, TrainingSettings())
    evaluator = Evaluator(network=embedder, ks=(1, 2), fold=0)
    found = [evaluator.evaluate(images, role, epoch=0)[:2] for role in ("val", "test")]
    (val, val_hits), (test, test_hits) = found
    assert [(score.metric, score.k) for score in val[:2]] == [("recall", 1), ("recall", 2)]
    recalls, others, diagnostics = test[:2], test[2:6], test[6:]
    assert [score.value for score in (*recalls, *diagnostics)] == [score.value for score in val]
    assert test_hits[0].hits == val_hits[0].hits
    assert [score.metric for score in others] == ["r_precision", "map_at_r", "nmi", "f1"]
    assert {(score.role, score.k, score.queries) for score in others} == {
        ("test", None, len(images))
    }
    assert all(0.0 < score.value < 1.0 for score in others)


class Maps(Backbone):
    """Gives the maps it was made with, or vectors."""

    has_map = True
    num_features = 6

    def __init__(self, maps):
        super().__init__()
        self.maps = maps
        self.has_map = maps.ndim == 4

    def features(self, images_BCHW):
        return self.maps


def head_of(maps, dim=4, **choices):
    torch.manual_seed(0)
    return Embedder(Maps(maps), dim, TrainingSettings(**choices))


ANY_IMAGES = torch.zeros(5, 3, 8, 8, dtype=torch.uint8)
MAPS = torch.randn(5, 6, 2, 3, generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ("average", lambda values: sum(values) / len(values)),
        ("max", max),
        ("average+max", lambda values: sum(values) / len(values) + max(values)),
    ],
)
def test_a_map_is_pooled_over_all_its_positions(pooling, pool):
    found = head_of(MAPS, pooling=pooling).features(ANY_IMAGES)
    expected = [[pool(row.flatten().tolist()) for row in map_] for map_ in MAPS]
    torch.testing.assert_close(found, torch.tensor(expected))


def test_features_that_are_no_map_are_not_pooled():
    vectors = MAPS.flatten(2)[:, :, 0]
    assert torch.equal(head_of(vectors, pooling="max").features(ANY_IMAGES), vectors)


def test_layer_norm_acts_on_pooled_features_and_has_nothing_to_learn():
    embedder = head_of(MAPS, layer_norm=True)
    pooled = MAPS.mean((2, 3))
    deviation = (pooled.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
    normalised = (pooled - pooled.mean(1, keepdim=True)) / deviation
    torch.testing.assert_close(embedder(ANY_IMAGES), embedder.embedding(normalised))
    assert [name for name, _ in embedder.named_parameters()] == [
        "embedding.weight",
        "embedding.bias",
    ]


def test_l2_gives_embeddings_of_length_1_in_the_same_direction():
    raw, unit = head_of(MAPS)(ANY_IMAGES), head_of(MAPS, l2=True)(ANY_IMAGES)
    torch.testing.assert_close(unit.norm(dim=1), torch.ones(5))
    torch.testing.assert_close(unit, raw / raw.norm(dim=1, keepdim=True))


def test_the_layer_starts_as_torch_starts_it_or_from_kaimings_normal_of_fan_out():
    wide = torch.zeros(1, 1000, 1, 1)
    backbone = Maps(wide)
    backbone.num_features = 1000
    torch.manual_seed(0)
    uniform = Embedder(backbone, 50, TrainingSettings()).embedding
    kaiming = Embedder(backbone, 50, TrainingSettings(head_init="kaiming")).embedding
    assert 0.99 / 1000**0.5 < uniform.weight.abs().max() <= 1.0 / 1000**0.5
    assert kaiming.weight.std().item() == pytest.approx((2.0 / 50) ** 0.5, rel=0.02)
    assert kaiming.weight.abs().max() > 3.5 * (2.0 / 50) ** 0.5  # normal, not uniform
    assert not uniform.bias.any()
    assert not kaiming.bias.any()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"pooling": "maximum"},
            r"unknown pooling 'maximum'.*; known: average, average\+max, max",
        ),
        ({"head_init": "kaming"}, r"unknown head_init 'kaming' \(did you mean 'kaiming'\?\)"),
    ],
)
def test_choices_the_head_does_not_have_are_refused(choices, message):
    with pytest.raises(TrialInputError, match=message):
        head_of(MAPS, **choices)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_the_head_is_float32_whatever_the_backbone_gives(layer_norm):
    rough = MAPS.bfloat16()
    choices = {"pooling": "average+max", "layer_norm": layer_norm, "l2": True}
    expected = head_of(rough.float(), **choices)(ANY_IMAGES)
    with torch.autocast("cpu", torch.bfloat16):
        found = head_of(rough, **choices)(ANY_IMAGES)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)

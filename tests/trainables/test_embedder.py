import pytest
import torch
from torch import nn

from tests.trainables.tiny_trials import ON_THE_CPU, tiny_trial
from trainables.backbones.conv_small import ConvSmall
from trainables.datasets.loading import load_dataset
from trainables.embedder import Embedder
from trainables.evaluation import embed, evaluate
from trainables.images import images_of_classes
from trainables.settings import TrainingSettings


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


def test_the_embedding_of_an_image_does_not_depend_on_the_others(images):
    torch.manual_seed(0)
    embedder = Embedder(ConvSmall(), 8, TrainingSettings())
    together = embed(embedder, images)
    alone = embedder.eval()(next(images.batches.evaluation())[5:6])
    torch.testing.assert_close(together[5:6], alone)


def test_evaluation_leaves_the_network_as_it_is(images):
    torch.manual_seed(0)
    embedder = Embedder(ConvSmall(), 8, TrainingSettings())
    before = {name: value.clone() for name, value in embedder.state_dict().items()}
    evaluate(embedder, images, (1,), role="test", fold=0, epoch=0)
    torch.testing.assert_close(embedder.state_dict(), before, rtol=0, atol=0)


def test_recall_counts_queries_whose_nearest_other_image_is_of_their_class(images):
    torch.manual_seed(0)
    found = evaluate(
        Embedder(ConvSmall(), 8, TrainingSettings()), images, (1, 2), role="test", fold=0, epoch=0
    )
    unit = nn.functional.normalize(found.embeddings_ND.double(), dim=1)
    hits = {1: 0, 2: 0}
    for query in range(len(unit)):
        others = [other for other in range(len(unit)) if other != query]
        others.sort(key=lambda other: -float(unit[query] @ unit[other]))
        same = [bool(images.labels_N[other] == images.labels_N[query]) for other in others]
        for k in hits:
            hits[k] += any(same[:k])
    recalls = [score for score in found.scores if score.metric == "recall"]
    assert {score.k: score.hits for score in recalls} == hits


def test_only_test_classes_have_the_scores_that_no_search_uses(images):
    torch.manual_seed(0)
    embedder = Embedder(ConvSmall(), 8, TrainingSettings())
    val, test = (
        evaluate(embedder, images, (1, 2), role=role, fold=0, epoch=0) for role in ("val", "test")
    )
    assert [(score.metric, score.k) for score in val.scores] == [("recall", 1), ("recall", 2)]
    recalls, others = test.scores[:2], test.scores[2:]
    assert [score.value for score in recalls] == [score.value for score in val.scores]
    assert test.class_hits[0].hits == val.class_hits[0].hits
    assert [score.metric for score in others] == ["r_precision", "map_at_r", "nmi", "f1"]
    assert {(score.role, score.k, score.queries) for score in others} == {
        ("test", None, len(images))
    }
    assert all(0.0 < score.value < 1.0 for score in others)

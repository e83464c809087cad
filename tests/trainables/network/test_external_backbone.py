import pytest
import torch
from torchvision.transforms.functional import normalize

from podium.trainables.errors import TrialInputError
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.network.pixel_input import IMAGENET_MEAN, IMAGENET_STD
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import BackboneSettings
from tests.trainables.backbones.foreign_networks import Native

MODULE = "tests.trainables.backbones.foreign_networks"
IMAGES = torch.randint(256, (2, 3, 5, 6), generator=torch.Generator().manual_seed(0)).byte()


def made(name, weights="random"):
    return make_backbone(BackboneSettings(name=f"{MODULE}:{name}", weights=weights))


def test_a_module_gets_images_normalised_as_imagenet_is():
    backbone = made("Averages")
    inputs = normalize(IMAGES / 255.0, IMAGENET_MEAN, IMAGENET_STD)
    expected = inputs.mean((2, 3)) * backbone.network.scale
    torch.testing.assert_close(backbone(IMAGES), expected)
    assert (backbone.num_features, backbone.has_map) == (3, False)
    assert backbone(IMAGES[:, :1]).shape == (2, 3)


def test_a_module_that_gives_maps_is_pooled_by_the_head():
    embedder = Embedder(made("Map"), 4, TrainingSettings(pooling="max"))
    found = embedder.features(IMAGES)
    torch.testing.assert_close(found, embedder.backbone(IMAGES).amax((2, 3)))
    assert embedder(IMAGES).shape == (2, 4)


def test_its_weights_come_from_the_seed_or_a_file(tmp_path):
    torch.manual_seed(0)
    one = made("Averages")
    torch.manual_seed(0)
    assert torch.equal(made("Averages").network.scale, one.network.scale)
    torch.save(one.network.state_dict(), tmp_path / "weights.pt")
    loaded = made("Averages", str(tmp_path / "weights.pt"))
    assert torch.equal(loaded.network.scale, one.network.scale)


def test_a_backbone_of_the_user_is_taken_as_it_is():
    backbone = made("Native", "imagenet")
    assert type(backbone) is Native
    assert backbone.weights == "imagenet"
    assert torch.equal(backbone(IMAGES)[:, 0], IMAGES.float().mean((1, 2, 3)))


@pytest.mark.parametrize(
    ("name", "weights", "message"),
    [
        ("Silent", "random", "must have an attribute num_features, .*; got none"),
        ("Demanding", "random", "cannot be made: TypeError: .*'size'"),
        ("Averages", "imagenet", "Averages has no imagenet weights to download; give the path"),
        ("Averages", "OURS", "unknown weights 'OURS' of .*Averages; known: random, the path"),
        ("Native", "THEIRS", r"unknown weights 'THEIRS' of .*; known: imagenet, OURS, random"),
        ("Avarages", "random", r"unknown backbone of .* 'Avarages' \(did you mean 'Averages'\?\)"),
        ("NOT_A_CLASS", "random", r"must be a subclass of torch\.nn\.Module"),
    ],
)
def test_what_cannot_be_made_is_refused(name, weights, message):
    with pytest.raises(TrialInputError, match=message):
        made(name, weights)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Liar", r"must give a tensor of shape \(B, F\) .* \(2, 4\); got shape \(2, 3\)"),
        ("Tuple", r"must give a tensor of shape \(B, F\) .*; got a tuple"),
    ],
)
def test_a_module_that_gives_something_else_is_reported_what_it_must_give(name, message):
    with pytest.raises(TrialInputError, match=message):
        made(name)(IMAGES)


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(TrialInputError, match="cannot import nowhere: No module named 'nowhere'"):
        make_backbone(BackboneSettings(name="nowhere:Net"))

import shutil
from dataclasses import replace

import pytest
import torch

from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.backbones.mlp import Mlp
from podium.trainables.errors import TrialInputError
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.settings.trial_settings import BackboneSettings
from podium.trainables.trial.setup import set_up
from tests.trainables.tiny_trials import tiny_trial


def test_networks_for_vectors_take_vectors_of_one_length():
    mlp = make_backbone(BackboneSettings(name="mlp"), num_inputs=6)
    assert isinstance(mlp, Mlp)
    assert mlp(torch.zeros(2, 6)).shape == (2, 512)
    with pytest.raises(
        TrialInputError, match=r"made for vectors of length 6, but got a batch of shape \(2, 7\)"
    ):
        mlp(torch.zeros(2, 7))


def test_the_identity_gives_the_vectors_themselves():
    identity = make_backbone(BackboneSettings(name="identity"), num_inputs=6)
    vectors = torch.randn(2, 6)
    assert torch.equal(identity(vectors), vectors)
    assert identity.num_features == 6


def test_a_trial_is_known_by_the_content_of_its_weights(cache_folder, tmp_path):
    def identity(weights):
        backbone = BackboneSettings(name="conv_small", weights=str(weights))
        return set_up(replace(tiny_trial(cache_folder), backbone=backbone)).identity

    one, copy, other = (tmp_path / f"{name}.pt" for name in ("one", "copy", "other"))
    torch.manual_seed(0)
    torch.save(ConvSmall().state_dict(), one)
    torch.save(ConvSmall().state_dict(), other)
    shutil.copy(one, copy)
    assert identity(one) == identity(copy)
    assert len({identity(one), identity(other), identity("random")}) == 3


def test_a_trial_starts_from_the_file(cache_folder, tmp_path):
    torch.manual_seed(0)
    weights = ConvSmall().state_dict()
    torch.save(weights, tmp_path / "weights.pt")
    backbone = BackboneSettings(name="conv_small", weights=str(tmp_path / "weights.pt"))
    setup = set_up(replace(tiny_trial(cache_folder), backbone=backbone))
    torch.manual_seed(1)
    torch.testing.assert_close(setup.make_embedder().backbone.state_dict(), weights)


def test_conv_small_tells_the_corners_of_an_image_apart():
    torch.manual_seed(0)
    backbone = ConvSmall().eval()
    images = torch.zeros(2, 1, 32, 32, dtype=torch.uint8)
    images[0, :, :8, :8] = images[1, :, -8:, -8:] = 255
    features = backbone(images).unflatten(1, (64, 4, 4))
    assert features[0, :, 0, 0].sum() > features[0, :, 3, 3].sum()
    assert features[1, :, 0, 0].sum() < features[1, :, 3, 3].sum()


@pytest.mark.parametrize("name", ["bn_inception", "googlenet", "resnet50"])
def test_images_do_not_fade_in_a_fresh_deep_network_before_it_has_statistics(name):
    torch.manual_seed(0)
    backbone = make_backbone(BackboneSettings(name=name)).eval()
    images = torch.randint(256, (2, 3, 64, 64)).byte()
    with torch.no_grad():
        one, other = backbone(images)
    assert one.norm() > 1.0
    assert (one - other).norm() > 0.01 * one.norm()

"""Vision transformers against torchvision: positions, files, sizes.

On a narrow, shallow one, since the code is the same for all; `test_torchvision.py` has those that
are published.
"""

import pytest
import torch
import torchvision
from torchvision.models.vision_transformer import interpolate_embeddings

from podium.trainables.backbones._vit import VisionTransformer, _positions
from podium.trainables.errors import TrialInputError

FEATURES, LAYERS = 48, 3


def published(image_size):
    return torchvision.models.VisionTransformer(
        image_size=image_size,
        patch_size=32,
        num_layers=LAYERS,
        num_heads=4,
        hidden_dim=FEATURES,
        mlp_dim=2 * FEATURES,
    )


class Small(VisionTransformer):
    has_map = False
    published_weights = ()
    side_multiple = 32
    num_features = FEATURES

    def make_network(self):
        return published(224)


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    model = published(96)
    torch.nn.init.normal_(model.encoder.pos_embedding)
    return model.state_dict()


@pytest.fixture(scope="module")
def backbone(weights, tmp_path_factory):
    file = tmp_path_factory.mktemp("weights") / "vit.pt"
    torch.save(weights, file)
    return Small(str(file)).eval()


def test_published_files_name_the_mlp_as_torchvision_once_did(weights, tmp_path):
    old = {
        name.replace("mlp.0.", "mlp.linear_1.").replace("mlp.3.", "mlp.linear_2."): value
        for name, value in weights.items()
    }
    assert old.keys() != weights.keys()
    torch.save(old, tmp_path / "old.pth")
    found = Small(str(tmp_path / "old.pth")).network.state_dict()
    name = "encoder.layers.encoder_layer_2.mlp.3.weight"
    assert torch.equal(found[name], weights[name])


def test_positions_that_are_no_square_are_refused(weights, tmp_path):
    wrong = {**weights, "encoder.pos_embedding": torch.zeros(1, 12, FEATURES)}
    torch.save(wrong, tmp_path / "wrong.pth")
    with pytest.raises(TrialInputError, match=r"pos_embedding has shape \(1, 12, 48\) instead"):
        Small(str(tmp_path / "wrong.pth"))


def images(height, width):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (2, 3, height, width), generator=generator, dtype=torch.uint8)


@pytest.mark.parametrize("side", [64, 96, 160])
def test_images_of_another_size_see_positions_as_torchvision_resamples_them(
    backbone, weights, side
):
    resampled = interpolate_embeddings(side, 32, dict(weights))
    model = published(side).eval()
    model.load_state_dict(resampled)
    model.heads = torch.nn.Identity()
    with torch.no_grad():
        expected = model(backbone.pixels(images(side, side)))
        found = backbone(images(side, side))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_images_may_be_wider_than_high(backbone):
    with torch.no_grad():
        assert backbone(images(64, 128)).shape == (2, FEATURES)


def test_positions_of_a_plane_are_a_plane_at_any_size():
    ramp = torch.linspace(0.0, 1.0, 7)
    grid = torch.stack([ramp[:, None].expand(7, 7), ramp.expand(7, 7)], dim=2)
    positions = torch.cat([torch.full((1, 1, 2), 5.0), grid.reshape(1, 49, 2)], dim=1)
    found = _positions(positions, 4, 10)
    assert torch.equal(found[:, 0], positions[:, 0])
    rows, columns = found[0, 1:].reshape(4, 10, 2).unbind(2)
    # Bicubic: a little off where it has to go on beyond the border.
    torch.testing.assert_close(rows[:, 0], torch.linspace(0, 1, 4), atol=0.02, rtol=0)
    torch.testing.assert_close(columns[0], torch.linspace(0, 1, 10), atol=0.02, rtol=0)


def test_all_positions_get_a_gradient_at_another_size(backbone):
    positions = backbone.network.encoder.pos_embedding
    backbone(images(128, 128)).cos().sum().backward()
    assert (positions.grad.abs().sum(2) > 0).all()
    backbone.zero_grad()

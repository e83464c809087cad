"""What holds for every backbone of the registry."""

import pytest
import torch

from trainables.errors import TrialInputError
from trainables.registry import load, names


def random_images(batch=4, size=32):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (batch, 1, size, size), generator=generator).byte()


def made(name, seed=0):
    torch.manual_seed(seed)
    return load("backbones", name)()


@pytest.mark.parametrize("name", names("backbones"))
def test_images_become_features_of_the_declared_length(name):
    backbone = made(name)
    features = backbone(random_images())
    assert features.shape == (4, backbone.num_features)
    assert features.dtype == torch.float32
    assert features.isfinite().all()


@pytest.mark.parametrize("name", names("backbones"))
def test_every_weight_gets_a_gradient(name):
    backbone = made(name)
    backbone(random_images()).square().sum().backward()
    assert all(weight.grad.abs().sum() > 0 for weight in backbone.parameters())


@pytest.mark.parametrize("name", names("backbones"))
def test_weights_follow_from_the_seed(name):
    images = random_images()
    one, again, other = (made(name, seed)(images) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_conv_small_takes_any_multiple_of_32_and_refuses_the_rest():
    backbone = made("conv_small")
    assert backbone(random_images(size=64)).shape == (4, 1024)
    with pytest.raises(TrialInputError, match="multiples of 32, but got 48 x 48"):
        backbone(random_images(size=48))


def test_conv_small_tells_the_corners_of_an_image_apart():
    backbone = made("conv_small").eval()
    images = torch.zeros(2, 1, 32, 32, dtype=torch.uint8)
    images[0, :, :8, :8] = images[1, :, -8:, -8:] = 255
    features = backbone(images).unflatten(1, (64, 4, 4))
    assert features[0, :, 0, 0].sum() > features[0, :, 3, 3].sum()
    assert features[1, :, 0, 0].sum() < features[1, :, 3, 3].sum()

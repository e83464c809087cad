import pytest
import torch
from torchvision.transforms.functional import normalize

from podium.trainables.network.pixel_input import IMAGENET_MEAN, IMAGENET_STD, PixelInput


@pytest.fixture
def images():
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (2, 3, 4, 5), generator=generator, dtype=torch.uint8)


def test_pixels_are_normalised_as_torchvision_does_it(images):
    found = PixelInput(IMAGENET_MEAN, IMAGENET_STD)(images)
    assert found.dtype == torch.float32
    expected = normalize(images.double() / 255.0, IMAGENET_MEAN, IMAGENET_STD)
    torch.testing.assert_close(found.double(), expected, atol=1e-6, rtol=0)


def test_the_order_of_channels_may_be_turned_round(images):
    forward = PixelInput((1.0, 2.0, 3.0), (0.5, 1.0, 2.0), scale=1.0)
    backward = PixelInput((1.0, 2.0, 3.0), (0.5, 1.0, 2.0), scale=1.0, is_bgr=True)
    assert torch.equal(backward(images), forward(images[:, [2, 1, 0]]))


@pytest.mark.parametrize("is_bgr", [False, True])
def test_a_grey_image_is_three_channels_normalised_each_by_its_own(images, is_bgr):
    pixels = PixelInput((1.0, 2.0, 3.0), (0.5, 1.0, 2.0), scale=1.0, is_bgr=is_bgr)
    found = pixels(images[:, :1])
    assert found.shape == (2, 3, 4, 5)
    assert torch.equal(found, pixels(images[:, :1].repeat(1, 3, 1, 1)))


def test_channels_last_stays_channels_last(images):
    last = images.to(memory_format=torch.channels_last)
    for is_bgr in (False, True):
        pixels = PixelInput(IMAGENET_MEAN, IMAGENET_STD, is_bgr=is_bgr)
        assert pixels(last).is_contiguous(memory_format=torch.channels_last)
        assert torch.equal(pixels(last), pixels(images))


def test_nothing_of_it_is_saved_or_trained():
    pixels = PixelInput(IMAGENET_MEAN, IMAGENET_STD)
    assert not pixels.state_dict()
    assert not list(pixels.parameters())

from functools import partial

import numpy as np
import pytest
import torch

from podium.trainables.batches.cpu_batches import HostBatches
from podium.trainables.batches.device_batches import DeviceBatches
from podium.trainables.batches.random_crops import crop_boxes
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import Pixels
from podium.trainables.reproducibility import reproducible
from tests.trainables.small_photographs import Photographs, photograph

CPU = torch.device("cpu")
CROP = partial(crop_boxes, scale_min=0.08)
DEVICES = [CPU, pytest.param(torch.device("cuda"), marks=pytest.mark.gpu)]

# Shorter side 40, as the cache has them for evaluation.
SIZES = [(40, 53), (50, 40), (40, 40), (40, 190), (120, 40)]
ROLE = np.array([3, 0, 4, 2, 1])
BATCHES = [np.array([0, 4, 2, 3, 1, 1]), np.array([3]), np.tile(np.arange(5), 12)]


@pytest.fixture(scope="module")
def photographs():
    return Photographs(SIZES)


def on_device(pixels, device=CPU, *, image_size=32, crop=CROP, indices=ROLE):
    return DeviceBatches(pixels, indices, image_size=image_size, crop=crop, device=device)


def on_host(pixels, *, image_size=32, crop=CROP):
    return HostBatches(
        pixels,
        ROLE,
        image_size=image_size,
        shorter_side=40,
        crop=crop,
        device=CPU,
        num_threads=2,
    )


# 40: crops are enlarged; 8: up to 15 pixels of a line count in one.
@pytest.mark.parametrize("image_size", [40, 32, 8])
@pytest.mark.parametrize("device", DEVICES)
def test_images_are_those_of_the_host_but_for_rounding(photographs, device, image_size):
    device_images = on_device(photographs, device, image_size=image_size).training(BATCHES, 7, 2)
    host_images = on_host(photographs, image_size=image_size).training(BATCHES, 7, 2)
    for ours, theirs in zip(device_images, host_images, strict=True):
        assert ours.device.type == device.type
        assert ours.dtype == torch.uint8
        levels = (ours.cpu().int() - theirs.int()).abs()
        assert levels.max() <= 2
        assert levels.float().mean() < 0.05


@pytest.mark.parametrize("device", DEVICES)
def test_evaluation_has_the_bits_of_the_host(photographs, device):
    ours = torch.cat(list(on_device(photographs, device).evaluation()))
    assert torch.equal(ours.cpu(), torch.cat(list(on_host(photographs).evaluation())))


@pytest.mark.parametrize("device", DEVICES)
def test_images_are_the_same_again_under_deterministic_algorithms(photographs, device):
    batches = on_device(photographs, device)
    with reproducible(3, 2):
        one, other, third = (list(batches.training(BATCHES, seed, 1)) for seed in (1, 1, 2))
    assert all(torch.equal(*pair) for pair in zip(one, other, strict=True))
    assert not torch.equal(one[0], third[0])


def test_a_batch_whose_crops_are_many_is_cut_in_parts_without_a_trace():
    pixels = Photographs([(1600, 1900)])
    indices = np.zeros(1, dtype=np.int64)
    batches = on_device(pixels, indices=indices, crop=partial(crop_boxes, scale_min=0.9))
    (images,) = batches.training([np.zeros(12, dtype=np.int64)], 4, 1)
    host_batches = HostBatches(
        pixels,
        indices,
        image_size=32,
        shorter_side=1600,
        crop=partial(crop_boxes, scale_min=0.9),
        device=CPU,
        num_threads=1,
    )
    (expected,) = host_batches.training([np.zeros(12, dtype=np.int64)], 4, 1)
    assert (images.int() - expected.int()).abs().max() <= 2


def test_the_precision_of_a_caller_does_not_reach_the_grey_levels(photographs):
    batches = on_device(photographs)
    (plain,) = batches.training(BATCHES[:1], 1, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (mixed,) = batches.training(BATCHES[:1], 1, 1)
    assert torch.equal(plain, mixed)


class Huge(Pixels):
    """Claims 30 GB an image and holds one pixel."""

    def __len__(self):
        return 3000

    def image(self, index):
        return np.broadcast_to(photograph(1, 1, seed=0), (100_000, 100_000, 3))

    def content_hash(self, indices):
        raise NotImplementedError


@pytest.mark.parametrize("device", DEVICES)
def test_images_that_do_not_fit_are_refused_before_any_is_read(device):
    message = (
        r"training.loader 'device': 3000 images need 90000000000000 bytes \(83819.0 GiB\) on "
        r"\w+, but \d+ bytes .* are free there .* use loader 'host'"
    )
    with pytest.raises(TrialInputError, match=message):
        on_device(Huge(), device, indices=np.arange(3000))

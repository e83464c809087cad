import threading
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, Resize
from torchvision.transforms import functional as vision

from podium.trainables.batches.cpu_batches import HostBatches
from podium.trainables.batches.image_batches import EVALUATION_CHUNK, evaluation_chunk
from podium.trainables.batches.random_crops import are_flipped, crop_boxes, draw_crops
from podium.trainables.reproducibility import reproducible
from tests.trainables.small_photographs import Photographs

CPU = torch.device("cpu")
CROP = partial(crop_boxes, scale_min=0.2)
SIZES = [(60, 80), (75, 60), (60, 60), (60, 190), (33, 47), (100, 64), (61, 60)]
ROLE = np.array([6, 0, 3, 4, 1, 5])
BATCHES = [np.array([0, 4, 2, 3]), np.array([5, 1]), np.array([3, 3, 1, 0])]
AS_EVALUATED = Compose([Resize(40), CenterCrop(32)])


@pytest.fixture(scope="module")
def photographs():
    return Photographs(SIZES)


def host(pixels, *, crop=CROP, num_threads=2, device=CPU, indices=ROLE):
    return HostBatches(
        pixels,
        indices,
        image_size=32,
        shorter_side=40,
        crop=crop,
        device=device,
        num_threads=num_threads,
    )


def as_evaluated(image):
    return torch.from_numpy(np.array(AS_EVALUATED(Image.fromarray(image)))).permute(2, 0, 1)


def test_each_image_of_a_batch_is_torchvisions_resized_crop_of_its_box(photographs):
    generator = np.random.default_rng(9)
    for positions, images in zip(BATCHES, host(photographs).training(BATCHES, 9, 1), strict=True):
        assert images.shape == (len(positions), 3, 32, 32)
        assert images.dtype == torch.uint8
        draws = draw_crops(len(positions), generator)
        for place, index in enumerate(ROLE[positions]):
            image = photographs.image(index)
            (box,) = crop_boxes(draws[place : place + 1], np.array([SIZES[index]]), 0.2)
            expected = vision.resized_crop(Image.fromarray(image), *box.tolist(), [32, 32])
            if are_flipped(draws)[place]:
                expected = vision.hflip(expected)
            levels = images[place].permute(1, 2, 0).int() - torch.from_numpy(np.array(expected))
            assert levels.abs().max() <= 1


@pytest.mark.parametrize("num_threads", [1, 3, 16])
def test_batches_do_not_depend_on_the_number_of_threads(photographs, num_threads):
    big = [np.tile(np.arange(6), 9), *BATCHES]
    one = list(host(photographs, num_threads=2).training(big, 5, 2))
    other = list(host(photographs, num_threads=num_threads).training(big, 5, 2))
    assert all(torch.equal(*pair) for pair in zip(one, other, strict=True))


def test_another_seed_cuts_otherwise_and_the_same_seed_alike(photographs):
    batches = host(photographs)
    one, other, third = (torch.cat(list(batches.training(BATCHES, seed, 1))) for seed in (1, 1, 2))
    assert torch.equal(one, other)
    assert not torch.equal(one, third)


def test_views_follow_one_another_and_each_is_cut_anew(photographs):
    whole = Photographs([(48, 48)])
    (images,) = host(whole, indices=np.array([0])).training([np.array([0, 0])], 1, 3)
    assert images.shape == (6, 3, 32, 32)
    assert len(torch.unique(images.flatten(1), dim=0)) == 6
    (views,) = host(photographs, crop=None).training([np.array([2, 5])], 1, 3)
    assert torch.equal(views.unflatten(0, (3, 2))[2], views[:2])
    assert not torch.equal(views[0], views[1])


def test_evaluation_has_the_bits_of_torchvision_in_the_order_of_the_role(photographs):
    found = torch.cat(list(host(photographs).evaluation()))
    assert len(found) == len(ROLE)
    for image, index in zip(found, ROLE, strict=True):
        assert torch.equal(image, as_evaluated(photographs.image(index)))


def test_large_images_are_evaluated_in_smaller_chunks():
    assert [evaluation_chunk(side) for side in (1, 32, 112, 224, 448, 5000)] == [
        EVALUATION_CHUNK,
        EVALUATION_CHUNK,
        512,
        128,
        32,
        1,
    ]


def test_more_images_than_a_chunk_are_all_evaluated_once():
    pixels = Photographs([(40, 44)])
    indices = np.zeros(EVALUATION_CHUNK + 3, dtype=np.int64)
    sizes = [len(chunk) for chunk in host(pixels, indices=indices).evaluation()]
    assert sizes == [EVALUATION_CHUNK, 3]


class Broken(Photographs):
    def image(self, index):
        if index == 4:
            raise OSError("no whole image")
        return super().image(index)


def test_an_image_that_cannot_be_read_is_an_error_in_the_turn_of_its_batch():
    images = host(Broken(SIZES)).training([np.array([0, 1]), np.array([2, 3])], 1, 1)
    next(images)
    with pytest.raises(OSError, match="no whole image"):
        next(images)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("images")]


def test_images_are_made_under_deterministic_algorithms(photographs):
    batches = host(photographs)
    plain = list(batches.training(BATCHES, 1, 1))
    with reproducible(3, 2):
        checked = list(batches.training(BATCHES, 1, 1))
    assert all(torch.equal(*pair) for pair in zip(plain, checked, strict=True))


@pytest.mark.gpu
def test_a_gpu_gets_the_same_images(photographs):
    on_cpu = host(photographs)
    on_gpu = host(photographs, device=torch.device("cuda"))
    for ours, theirs in (
        (on_cpu.training(BATCHES * 20, 1, 2), on_gpu.training(BATCHES * 20, 1, 2)),
        (on_cpu.evaluation(), on_gpu.evaluation()),
    ):
        pairs = zip(ours, theirs, strict=True)
        assert all(there.is_cuda and torch.equal(here, there.cpu()) for here, there in pairs)

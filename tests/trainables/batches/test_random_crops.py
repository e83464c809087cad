import numpy as np
import pytest
import torch
from PIL import Image
from scipy.stats import ks_2samp
from torchvision.transforms import CenterCrop, RandomCrop, RandomResizedCrop

from podium.trainables.batches.random_crops import (
    are_flipped,
    centre_boxes,
    crop_boxes,
    draw_crops,
    square_boxes,
)

NUM_DRAWS = 8_000
RATIOS = (3 / 4, 4 / 3)


def boxes_of(height, width, *, scale_min=0.08, count=NUM_DRAWS, seed=0):
    draws = draw_crops(count, np.random.default_rng(seed))
    return crop_boxes(draws, np.full((count, 2), (height, width)), scale_min)


def boxes_of_torchvision(height, width, scale_min):
    image = torch.zeros(1, height, width)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return np.array(
            [
                RandomResizedCrop.get_params(image, [scale_min, 1.0], list(RATIOS))
                for _ in range(NUM_DRAWS)
            ]
        )


# The last one so long that ten tries fail for some images and hold for others.
@pytest.mark.parametrize(
    ("height", "width", "scale_min"), [(375, 500, 0.08), (40, 23, 0.16), (20, 97, 0.08)]
)
def test_boxes_are_distributed_as_those_of_torchvision(height, width, scale_min):
    ours = boxes_of(height, width, scale_min=scale_min)
    theirs = boxes_of_torchvision(height, width, scale_min)
    for side in range(4):
        assert ks_2samp(ours[:, side], theirs[:, side]).pvalue > 1e-3
    areas = (ours[:, 2] * ours[:, 3], theirs[:, 2] * theirs[:, 3])
    ratios = (ours[:, 3] / ours[:, 2], theirs[:, 3] / theirs[:, 2])
    assert ks_2samp(*areas).pvalue > 1e-3
    assert ks_2samp(*ratios).pvalue > 1e-3
    assert np.allclose(np.corrcoef(ours.T), np.corrcoef(theirs.T), atol=0.05)


@pytest.mark.parametrize(("height", "width"), [(256, 341), (300, 256)])
def test_squares_are_distributed_as_crops_of_torchvision(height, width):
    draws = draw_crops(NUM_DRAWS, np.random.default_rng(0))
    ours = square_boxes(draws, np.full((NUM_DRAWS, 2), (height, width)), 224 / 256)
    image = torch.zeros(1, height, width)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        theirs = [RandomCrop.get_params(image, (224, 224)) for _ in range(NUM_DRAWS)]
    assert (ours[:, 2:] == 224).all()
    for side in range(2):
        assert ks_2samp(ours[:, side], np.array(theirs)[:, side]).pvalue > 1e-3
    tiny = square_boxes(draws, np.full((NUM_DRAWS, 2), (1, 3)), 0.1)
    assert (tiny[:, 2:] == 1).all()
    assert set(tiny[:, 1]) == {0, 1, 2}


@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (1, 5000), (5000, 1), (3, 2), (7, 4000)])
def test_boxes_lie_within_images_of_any_shape(size):
    tops, lefts, heights, widths = boxes_of(*size, count=500).T
    assert min(tops.min(), lefts.min()) >= 0
    assert min(heights.min(), widths.min()) >= 1
    assert (tops + heights).max() <= size[0]
    assert (lefts + widths).max() <= size[1]


@pytest.mark.parametrize(
    ("size", "box"),
    [
        ((1000, 10), (493, 0, 13, 10)),
        ((10, 1000), (0, 493, 10, 13)),
        ((90, 100), (0, 0, 90, 100)),
        ((1, 2), (0, 0, 1, 1)),
    ],
)
def test_an_image_in_which_no_try_fits_is_cut_around_its_centre(size, box):
    # Tries of the whole area at the tallest ratio, and torchvision's of three times the area.
    never = np.repeat([[1.0, 0.0]], [10, 13], axis=1)
    assert crop_boxes(never, np.array([size]), 0.08).tolist() == [list(box)]
    theirs = RandomResizedCrop.get_params(torch.zeros(1, *size), [3.0, 3.0], list(RATIOS))
    assert theirs == box


def test_the_images_of_a_batch_are_cut_independently_by_their_own_sizes():
    sizes_B2 = np.array([[300, 200], [64, 500], [5, 5]])
    draws = draw_crops(3, np.random.default_rng(5))
    boxes_B4 = crop_boxes(draws, sizes_B2, 0.08)
    for index in range(3):
        part = slice(index, index + 1)
        assert np.array_equal(crop_boxes(draws[part], sizes_B2[part], 0.08), boxes_B4[part])


def test_half_of_the_images_are_flipped_and_a_seed_says_which():
    one, other, third = (
        are_flipped(draw_crops(NUM_DRAWS, np.random.default_rng(seed))) for seed in (3, 3, 4)
    )
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)
    # Standard deviation 71.
    assert abs(one.sum() - NUM_DRAWS / 2) < 180
    # Where an image is cut says nothing of it; standard deviation 0.011.
    boxes_4B = boxes_of(375, 500, seed=3).T
    assert np.abs(np.corrcoef(one, boxes_4B)[0, 1:]).max() < 0.06


def test_centres_lie_where_torchvision_cuts_them():
    for height in range(5, 10):
        for width in range(5, 10):
            places = np.arange(height * width, dtype=np.int32).reshape(height, width)
            expected = np.asarray(CenterCrop(5)(Image.fromarray(places)))
            ((top, left, *sides),) = centre_boxes(np.array([[height, width]]), 5).tolist()
            assert sides == [5, 5]
            assert np.array_equal(places[top : top + 5, left : left + 5], expected)

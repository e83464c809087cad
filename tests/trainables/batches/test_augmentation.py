import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import functional as vision

from podium.trainables.batches.augmentation import resized_crop, shifted
from tests.trainables.small_photographs import photograph


def moved(image_HW, down, right):
    """Oracle: pixel by pixel."""
    height, width = image_HW.shape
    result = torch.zeros_like(image_HW)
    for row in range(height):
        for column in range(width):
            if 0 <= row - down < height and 0 <= column - right < width:
                result[row, column] = image_HW[row - down, column - right]
    return result


def random_images(batch):
    return torch.randint(1, 256, (batch, 5, 4), generator=torch.Generator().manual_seed(0)).byte()


def test_each_image_is_moved_by_one_of_all_shifts_of_its_own():
    images_BHW = random_images(batch=400)
    result = shifted(images_BHW, 1, torch.Generator().manual_seed(1))
    assert result.dtype == torch.uint8
    counts = dict.fromkeys([(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)], 0)
    for image, shift in zip(images_BHW, result, strict=True):
        (how,) = [how for how in counts if torch.equal(moved(image, *how), shift)]
        counts[how] += 1
    # 44 expected, standard deviation 6.3: fails for fewer than one seed in 10,000.
    assert all(18 < count < 71 for count in counts.values()), counts


BOXES = [(0, 0, 1, 1), (3, 40, 60, 45), (0, 0, 90, 120), (10, 5, 32, 32), (89, 0, 1, 120)]


@pytest.mark.parametrize("box", BOXES)
def test_a_resized_crop_is_that_of_torchvision_up_to_one_grey_level(box):
    image = photograph(90, 120, seed=2)
    found = resized_crop(image, np.array(box), 32, is_flipped=False)
    expected = np.asarray(vision.resized_crop(Image.fromarray(image), *box, [32, 32]))
    assert found.dtype == np.uint8
    levels = np.abs(found.transpose(1, 2, 0).astype(int) - expected)
    assert levels.max() <= 1
    assert levels.mean() < 0.25


def test_a_read_only_image_of_the_right_size_is_resized_too():
    image = photograph(40, 40, seed=3)
    image.flags.writeable = False
    found = resized_crop(image, np.array([0, 0, 40, 40]), 40, is_flipped=False)
    assert np.array_equal(found.transpose(1, 2, 0), image)

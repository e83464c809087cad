import torch

from trainables.augmentation import shifted


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


def test_no_pixel_is_moved_where_none_may_be():
    images_BHW = random_images(batch=3)
    assert torch.equal(shifted(images_BHW, 0, torch.Generator()), images_BHW)


def test_the_same_generator_gives_the_same_shifts():
    images_BHW = random_images(batch=8)
    one, other = (shifted(images_BHW, 2, torch.Generator().manual_seed(4)) for _ in range(2))
    assert torch.equal(one, other)

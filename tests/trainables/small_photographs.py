"""Images that look like photographs to a resize: smooth, with edges and some noise."""

import numpy as np
from PIL import Image

from podium.trainables.file_caches.decoded_pixels import Pixels


def photograph(height, width, seed):
    """RGB, (height, width, 3)."""
    generator = np.random.default_rng(seed)
    coarse = generator.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    image = smooth + generator.integers(-6, 7, (height, width, 3))
    rows, columns = np.mgrid[:height, :width]
    image[(rows - height / 2) ** 2 + (columns - width / 3) ** 2 < (height / 4) ** 2] //= 2
    return np.clip(image, 0, 255).astype(np.uint8)


class Photographs(Pixels):
    """Read-only, as images of a memory map are; all RGB, of different sizes."""

    def __init__(self, sizes):
        self.images = [photograph(*size, seed) for seed, size in enumerate(sizes)]
        for image in self.images:
            image.flags.writeable = False

    def __len__(self):
        return len(self.images)

    def image(self, index):
        return self.images[index]

    def content_hash(self, indices):
        raise NotImplementedError

"""CUB-200-2011: birds, classes 1 to 100 for training and 101 to 200 for testing."""

from podium.trainables.datasets._image_folder import ImageFolder


class Cub200(ImageFolder):
    """Images of 200 kinds of birds (Wah et al. 2011).

    Options:
        root: folder it was unpacked to, or the folder above.
        allow_partial: whether images may be missing, default false.
    """

    name = "cub200"

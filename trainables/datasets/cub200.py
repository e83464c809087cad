"""CUB-200-2011: birds, classes 1 to 100 for training and 101 to 200 for testing."""

from podium.trainables.datasets._image_folder import ImageFolder


class Cub200(ImageFolder):
    """Images of 200 kinds of birds (Wah et al. 2011)."""

    name = "cub200"

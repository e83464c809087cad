"""Cars196: cars, classes 1 to 98 for training and 99 to 196 for testing."""

from podium.trainables.datasets._image_folder import ImageFolder


class Cars196(ImageFolder):
    """Images of 196 models of cars (Krause et al. 2013), in either layout."""

    name = "cars196"

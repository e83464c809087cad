"""Any images, with a directory for each class."""

from podium.trainables.datasets._image_folder import ImageFolder


class Folder(ImageFolder):
    """Images of a folder: all classes in halves, or ``train`` and ``test`` apart."""

    name = "folder"

"""DeepFashion In-Shop Clothes Retrieval: queries search a gallery."""

from podium.trainables.datasets._image_folder import ImageFolder


class InShop(ImageFolder):
    """Images of 7,982 items of clothing (Liu et al. 2016). Queries search the gallery alone."""

    name = "in_shop"

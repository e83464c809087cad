"""Stanford Online Products: items for sale, a class each."""

from podium.trainables.datasets._image_folder import ImageFolder


class StanfordOnlineProducts(ImageFolder):
    """Images of 22,634 items sold on eBay (Oh Song et al. 2016)."""

    name = "sop"

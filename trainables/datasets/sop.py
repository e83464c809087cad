"""Stanford Online Products: items for sale, a class each."""

from podium.trainables.datasets._image_folder import ImageFolder


class StanfordOnlineProducts(ImageFolder):
    """Images of 22,634 items sold on eBay (Oh Song et al. 2016).

    Options:
        root: folder it was unpacked to, or the folder above.
        allow_partial: whether images may be missing, default false.
    """

    name = "sop"

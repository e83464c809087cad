import numpy as np
import pytest
import torch

from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import ArrayPixels
from tests.trainables.tiny_trials import ON_THE_CPU


class Squares(Dataset):
    """Six images of three classes; each pixel is the image's index."""

    name = "squares"

    def __init__(self, labels=(2, 0, 1, 2, 0, 2)):
        super().__init__(
            class_names=["a", "b", "c"],
            test_class_names={"c"},
            labels=np.array(labels),
            pixels=ArrayPixels(
                np.arange(6, dtype=np.uint8)[:, None, None].repeat(2, 1).repeat(2, 2)
            ),
        )

    @classmethod
    def facts(cls, options):
        raise NotImplementedError

    @classmethod
    def load(cls, options, cache_folder):
        return cls()


def test_images_come_in_the_order_of_the_data_set_with_their_class_ids():
    found = images_of_classes(Squares(), [2, 1], ON_THE_CPU)
    assert found.indices_N.tolist() == [0, 2, 3, 5]
    assert found.labels_N.tolist() == [2, 1, 2, 2]
    (images,) = found.batches.evaluation()
    assert images[:, 0, 0, 0].tolist() == [0, 2, 3, 5]
    assert images.dtype == torch.uint8
    assert len(found) == 4


def test_classes_of_single_images_alone_are_no_role():
    with pytest.raises(TrialInputError, match="squares: a class needs 2 images"):
        images_of_classes(Squares(labels=(0, 1, 2, 2, 2, 2)), [0, 1], ON_THE_CPU)

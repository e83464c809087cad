import numpy as np
import pytest
import torch

from trainables.datasets._base import Dataset
from trainables.errors import TrialInputError
from trainables.images import images_of_classes

CPU = torch.device("cpu")


class Squares(Dataset):
    """Six images of three classes; each pixel is the image's index."""

    name = "squares"

    def __init__(self, labels=(2, 0, 1, 2, 0, 2)):
        super().__init__(
            class_names=["a", "b", "c"],
            test_class_names={"c"},
            labels=np.array(labels),
            images=np.arange(6, dtype=np.uint8)[:, None, None].repeat(2, 1).repeat(2, 2),
        )

    @classmethod
    def facts(cls, options):
        raise NotImplementedError

    @classmethod
    def load(cls, options, cache_folder):
        return cls()


def test_images_come_in_the_order_of_the_data_set_with_their_class_ids():
    found = images_of_classes(Squares(), [2, 1], CPU)
    assert found.indices_N.tolist() == [0, 2, 3, 5]
    assert found.labels_N.tolist() == [2, 1, 2, 2]
    assert found.images_NHW[:, 0, 0].tolist() == [0, 2, 3, 5]
    assert found.images_NHW.dtype == torch.uint8
    assert len(found) == 4


def test_classes_of_single_images_alone_are_no_role():
    with pytest.raises(TrialInputError, match="squares: a class needs 2 images"):
        images_of_classes(Squares(labels=(0, 1, 2, 2, 2, 2)), [0, 1], CPU)

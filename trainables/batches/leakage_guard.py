"""Watches over what one fold reads: no class and no image has two roles.

`trainables.dataset_interface.class_splits` splits names. Here the labels are checked that
training and evaluation are handed, so that no slip between names and images goes unnoticed.
"""

from collections.abc import Mapping
from typing import Literal

from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.dataset_interface.class_splits import assert_disjoint
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError, first_of

Role = Literal["training", "validation", "test"]

# The name of each image's class, by the image's position in the data set.
_Classes = Mapping[int, str]


class LeakageGuard:
    """Remembers which images have which role in a fold.

    Args:
        dataset: data set of the fold. Its list of test classes is read once, here: what is
            trained or validated is held against it even if the fold is never tested.
        tests_in_validation: whether the images of validation are those of the test by declaration
            (`ProtocolSettings.leaks`).
    """

    def __init__(self, dataset: Dataset, *, tests_in_validation: bool) -> None:
        self._names = dataset.class_names
        self._listed = frozenset(self._names[class_id] for class_id in dataset.test_classes)
        self._of_test = ("validation", "test") if tests_in_validation else ("test",)
        self._admitted: dict[Role, _Classes] = {}

    def admit(self, role: Role, images: LabelledImages) -> LabelledImages:
        """The images, as they came, if they may have this role beside those admitted before.

        Raises:
            TrialInputError: a class or an image has two roles; the classes of a test are not those
                listed; or validation and test are declared to be the same and are not. Names
                classes.
        """
        places, labels = images.indices_N.tolist(), images.labels_N.tolist()
        own = {place: self._names[label] for place, label in zip(places, labels, strict=True)}
        for other, others in self._admitted.items():
            if role in self._of_test and other in self._of_test:
                _assert_same(others, own)
            else:
                assert_disjoint({other: set(others.values()), role: set(own.values())})
                _assert_no_shared_image(other, others, role, own)
        self._compare_with_list(role, set(own.values()))
        self._admitted[role] = own
        return images

    def _compare_with_list(self, role: Role, classes: set[str]) -> None:
        if role not in self._of_test:
            assert_disjoint({role: classes, "listed test": self._listed})
        elif differing := sorted(classes ^ self._listed):
            raise TrialInputError(
                f"{role} classes must be the listed test classes; only one has "
                f"{first_of(differing)}"
            )


def _assert_no_shared_image(one: str, ones: _Classes, other: str, others: _Classes) -> None:
    shared = ones.keys() & others.keys()
    if shared:
        names = sorted({others[place] for place in shared})
        raise TrialInputError(
            f"{one} and {other} images must be different; both have {len(shared)} of "
            f"{first_of(names)}"
        )


def _assert_same(val: _Classes, test: _Classes) -> None:
    differing = sorted({name for _, name in val.items() ^ test.items()})
    if differing:
        raise TrialInputError(
            "validation and test images must be the same under test_tuned; they differ in "
            f"{first_of(differing)}"
        )

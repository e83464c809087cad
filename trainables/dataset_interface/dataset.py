"""What every data set offers. N = images."""

import copy
import hashlib
import io
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from PIL import Image

from podium.trainables.dataset_interface.label_distances import LabelDistances
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import Pixels
from podium.trainables.file_caches.feature_vectors import FeatureVectors
from podium.trainables.hashing import digest
from podium.trainables.settings.training_settings import HyperparameterValue
from podium.trainables.tasks import Task

_THUMBNAIL_PIXELS = 96
_THUMBNAIL_COLOURS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFacts:
    """What is known of a data set before anything is read or rendered.

    Attributes:
        num_train_classes: classes to train and validate on.
        num_test_classes: classes to test on.
        num_images: number of all images.
        num_train_images: those of the training classes.
        description: a sentence for plans.
        task: task by which images are retrieved and scored (`trainables.tasks`).
        num_features: length of its vectors; None if it has images.
        side: height and width in pixels of images of one size; None of vectors and of files.
    """

    num_train_classes: int
    num_test_classes: int
    num_images: int
    num_train_images: int
    description: str
    task: Task = "classes"
    num_features: int | None = None
    side: int | None = None


class Dataset(ABC):
    """Labelled images whose test classes are disjoint from the training classes.

    A subclass is one data set. Its constructor takes the options of the study file and the folder
    for what is expensive to make, and raises `TrialInputError` for options it does not like.

    Attributes:
        name: the module's name.
        has_own_size: whether what it has is of one size already, so that a study gives no image
            size for it.
        class_names: names of all classes, sorted; a class id is an index into it.
        train_classes: class ids to train and validate on, ascending.
        test_classes: class ids to test on, ascending.
        labels: int64 of shape (N,), the class id of each image.
        gallery_N: bool of shape (N,), whether an image is searched and never asks; None where
            every test image is a query against all others.
        label_distances: how far the labels of two images are apart; None where their classes are
            all that is known. With them the task is ``continuous``.
        class_text_CT: float32, a vector for the name of each training class, in the order of
            ``train_classes``; None if the study names no file of them.
        hashes: what can change a number -> its hash: test data, classes, labels, training data,
            label distances, class text.
        fingerprint: hash of them all.
        test_hash: hash of the test classes, their images and the distances of their labels; equal
            exactly for equal tests.
    """

    name: str
    has_own_size: ClassVar[bool] = True

    def __init__(
        self,
        *,
        class_names: Sequence[str],
        test_class_names: Collection[str],
        labels: npt.NDArray[np.int64],
        pixels: Pixels | FeatureVectors,
        gallery_N: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        if list(class_names) != sorted(set(class_names)):
            raise TrialInputError(f"{self.name}: class names must be sorted and unique")
        if len(labels) != len(pixels) or list(np.unique(labels)) != list(range(len(class_names))):
            raise TrialInputError(
                f"{self.name}: every image needs one label and every class an image; got "
                f"{len(pixels)} images, {len(labels)} labels, {len(class_names)} classes"
            )
        self.class_names = tuple(class_names)
        self.labels = labels
        self._content = pixels
        self.gallery_N = gallery_N
        self.label_distances: LabelDistances | None = None
        self.class_text_CT: npt.NDArray[np.float32] | None = None
        test_names = frozenset(test_class_names)
        is_test = [name in test_names for name in class_names]
        self.train_classes = tuple(index for index, test in enumerate(is_test) if not test)
        self.test_classes = tuple(index for index, test in enumerate(is_test) if test)
        tested = np.isin(labels, self.test_classes)
        self.test_hash = digest(
            [
                self.name,
                [class_names[class_id] for class_id in self.test_classes],
                _array_hash(np.searchsorted(self.test_classes, labels[tested])),
                pixels.content_hash(np.flatnonzero(tested)),
                *([] if gallery_N is None else [_array_hash(gallery_N[tested])]),
            ]
        )
        labels_hash, train_hash = _array_hash(labels), pixels.content_hash(np.flatnonzero(~tested))
        self.fingerprint = digest(
            [self.test_hash, self.class_names, self.test_classes, labels_hash, train_hash]
        )
        self.hashes: Mapping[str, str] = {
            "test data": self.test_hash,
            "classes": digest([self.class_names, self.test_classes]),
            "labels": labels_hash,
            "training data": train_hash,
        }

    @property
    def vectors(self) -> FeatureVectors | None:
        """What the data set has in place of images; None if it has images."""
        return self._content if isinstance(self._content, FeatureVectors) else None

    @property
    def pixels(self) -> Pixels:
        """The images.

        Raises:
            TrialInputError: the data set has vectors in their place.
        """
        if isinstance(self._content, FeatureVectors):
            raise TrialInputError(
                f"data set {self.name} has vectors of {self._content.num_features} features and "
                "no images"
            )
        return self._content

    @property
    def task(self) -> Task:
        """What the labels say of the images, and so what these are retrieved by."""
        return "classes" if self.label_distances is None else "continuous"

    @classmethod
    @abstractmethod
    def facts(cls, options: Mapping[str, HyperparameterValue]) -> DatasetFacts:
        """Counts and a sentence on the data set, in milliseconds; options are checked too.

        Raises:
            TrialInputError: an option is unknown or out of range.
        """

    @classmethod
    @abstractmethod
    def load(cls, options: Mapping[str, HyperparameterValue], cache_folder: Path) -> Self:
        """The data set itself.

        Raises:
            TrialInputError: an option is unknown or out of range, or the data are not there.
        """

    @property
    def train_class_names(self) -> tuple[str, ...]:
        """Names of the training classes, in the order of ``train_classes``."""
        return tuple(self.class_names[class_id] for class_id in self.train_classes)

    def with_label_distances(self, distances: LabelDistances) -> Self:
        """The same images, retrieved by these distances; classes still part training and test.

        Raises:
            TrialInputError: they are not of as many images.
        """
        if len(distances) != len(self.labels):
            raise TrialInputError(
                f"{self.name}: every image needs its label distances; got those of "
                f"{len(distances)} for {len(self.labels)} images"
            )
        every = distances.fingerprint(np.arange(len(self.labels)))
        dataset = self._with("label distances", every, of_test=distances.fingerprint(self._tested))
        dataset.label_distances = distances
        return dataset

    def with_class_text(self, class_text_CT: npt.NDArray[np.float32]) -> Self:
        """The same images, with a vector for the name of each training class."""
        assert len(class_text_CT) == len(self.train_classes), "a row for each training class"
        dataset = self._with("class text", class_text_CT.shape, _array_hash(class_text_CT))
        dataset.class_text_CT = class_text_CT
        return dataset

    @property
    def _tested(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.isin(self.labels, self.test_classes))

    def _with(self, name: str, *content: object, of_test: str = "") -> Self:
        """A copy that has more: its hashes are also of that content, the last being its hash."""
        dataset = copy.copy(self)
        if of_test:
            dataset.test_hash = digest([self.test_hash, of_test])
        dataset.fingerprint = digest([self.fingerprint, *content])
        dataset.hashes = {**self.hashes, name: str(content[-1])}
        return dataset

    def text_of_classes(self, class_ids: Sequence[int]) -> npt.NDArray[np.float32]:
        """The vectors of some training classes, a row for each.

        Raises:
            TrialInputError: there are none.
        """
        if self.class_text_CT is None:
            raise TrialInputError(
                f"data set {self.name}: a loss that needs class_text needs the option class_text, "
                "a file of vectors for class names; `podium datasets text` writes one"
            )
        rows = {class_id: row for row, class_id in enumerate(self.train_classes)}
        return self.class_text_CT[[rows[class_id] for class_id in class_ids]]

    def thumbnail_png(self, index: int) -> bytes:
        """One image as a PNG file, for reports: both sides within 96 pixels.

        Colours are reduced to the 64 that suit the image: every tested trial stores dozens of
        them, and a photograph takes some 4 kB so, a fifth of what all its colours would.
        """
        image = Image.fromarray(self.pixels.image(index))
        image.thumbnail((_THUMBNAIL_PIXELS, _THUMBNAIL_PIXELS))
        if image.mode == "RGB":
            image = image.quantize(_THUMBNAIL_COLOURS)
        file = io.BytesIO()
        image.save(file, "png", optimize=True)
        return file.getvalue()


def _array_hash(array: npt.NDArray[np.generic]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()

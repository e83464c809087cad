"""Data sets of image files as they were published and unpacked."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, Self, cast, get_args

import numpy as np

from podium.trainables.dataset_interface.dataset import Dataset, DatasetFacts
from podium.trainables.dataset_readers.image_list import ImageList, LabelledImage, Published
from podium.trainables.dataset_readers.read_images import READERS, read_images
from podium.trainables.errors import TrialInputError, did_you_mean
from podium.trainables.file_caches.image_files import ImageFiles, Transparency
from podium.trainables.settings.training_settings import HyperparameterValue

_ALL = "*"
_DEFAULTS: Mapping[str, HyperparameterValue | None] = {
    "root": None,
    "allow_partial": False,
    "transparency": "drop",
    "upright": False,
    "classes": _ALL,
}


class ImageFolder(Dataset):
    """Images that the reader of the same name (`trainables.dataset_readers`) finds.

    Images with the role ``query`` only ask, those with the role ``gallery`` are searched and never
    ask; both are for testing.

    Options:
        root: the folder, or the one above it.
        allow_partial: whether images may be missing, default false. What was published is not
            compared then.
        transparency: what is seen behind transparent pixels: ``white``, ``black``, or with
            ``drop``, the default, the colour that they hold.
        upright: whether photographs are turned as their EXIF says, default false: the loaders of
            published results do not.
        classes: which classes are taken, as a pattern of their names such as ``*.food``; each on
            the side that it has among all classes.
    """

    has_own_size = False

    @classmethod
    def facts(cls, options: Mapping[str, HyperparameterValue]) -> DatasetFacts:
        """See `Dataset.facts`. What was published, whether it is on this machine or not.

        Where nothing was published, or less is allowed, the annotations are read, and no image.

        Raises:
            TrialInputError: an option is unknown or of the wrong kind, or what must be read is not
                there.
        """
        chosen = _checked(options, cls.name)
        published = READERS[cls.name].PUBLISHED
        if published is not None and not chosen.allow_partial and chosen.classes == _ALL:
            return _published_facts(published)
        return _facts(chosen.read(cls.name), chosen.root)

    @classmethod
    def load(cls, options: Mapping[str, HyperparameterValue], cache_folder: Path) -> Self:
        """See `Dataset.load`. No image is decoded; files seen before are not even read.

        Raises:
            TrialInputError: an option is unknown or of the wrong kind, or something is missing or
                not as published.
        """
        chosen = _checked(options, cls.name)
        images = chosen.read(cls.name)
        roles = np.array(images.roles)
        labels = np.array(images.labels, dtype=np.int64)
        return cls(
            class_names=images.class_names,
            test_class_names={images.class_names[label] for label in labels[roles != "train"]},
            labels=labels,
            pixels=ImageFiles(images.paths, cache_folder, chosen.transparency, chosen.upright),
            gallery_N=roles == "gallery" if "gallery" in images.roles else None,
        )


class _Options(NamedTuple):
    """See `ImageFolder`."""

    root: Path | None
    allow_partial: bool
    transparency: Transparency
    upright: bool
    classes: str

    def read(self, dataset: str) -> ImageList:
        """The images of the chosen classes."""
        layout = READERS[dataset].LAYOUT
        if self.root is None:
            raise layout.missing("root must be given, the folder with the data set in it")
        root = self.root.expanduser()
        images = read_images(dataset, root, allow_partial=self.allow_partial)
        if self.classes == _ALL:
            return images
        chosen = [
            LabelledImage(path, images.class_names[label], role)
            for path, label, role in zip(images.paths, images.labels, images.roles, strict=True)
            if fnmatchcase(images.class_names[label], self.classes)
        ]
        if {image.role for image in chosen} != set(images.roles):
            raise layout.wrong(
                f"classes must match some of each of {', '.join(sorted(set(images.roles)))}; got "
                f"{self.classes!r}"
            )
        return layout.image_list(chosen, None, allow_partial=True)


def _checked(options: Mapping[str, HyperparameterValue], dataset: str) -> _Options:
    """The options, or one error that has everything that is wrong with them."""
    problems = [
        f"unknown option {name!r}{did_you_mean(name, _DEFAULTS)}; known: {', '.join(_DEFAULTS)}"
        for name in options
        if name not in _DEFAULTS
    ]
    root, allow_partial, transparency, upright, classes = (
        {**_DEFAULTS, **options}[name] for name in _DEFAULTS
    )
    if "root" in options and (not isinstance(root, str) or not root):
        problems.append(f"root must be the path of a folder; got {root!r}")
    for name, flag in (("allow_partial", allow_partial), ("upright", upright)):
        if not isinstance(flag, bool):
            problems.append(f"{name} must be true or false; got {flag!r}")
    kinds = get_args(Transparency)
    if transparency not in kinds:
        problems.append(f"transparency must be one of {', '.join(kinds)}; got {transparency!r}")
    if not isinstance(classes, str):
        problems.append(f"classes must be a pattern of their names; got {classes!r}")
    if problems:
        raise TrialInputError(f"data set {dataset}: {'; '.join(problems)}")
    given = None if root is None else Path(str(root))
    seen = cast(Transparency, transparency)
    return _Options(given, bool(allow_partial), seen, bool(upright), str(classes))


def _published_facts(published: Published) -> DatasetFacts:
    """A test class has queries and gallery images, or there are no such roles."""
    tested = {role: counts for role, counts in published.items() if role != "train"}
    return DatasetFacts(
        num_train_classes=published["train"].classes,
        num_test_classes=max(counts.classes for counts in tested.values()),
        num_images=sum(counts.images for counts in published.values()),
        num_train_images=published["train"].images,
        description=f"{_images_by_role(published)}, as published",
    )


def _facts(images: ImageList, root: Path | None) -> DatasetFacts:
    counts = images.counts()
    num_train = counts["train"].classes
    found = f"{_images_by_role(counts)}, found in {root}"
    return DatasetFacts(
        num_train_classes=num_train,
        num_test_classes=len(images.class_names) - num_train,
        num_images=len(images.paths),
        num_train_images=counts["train"].images,
        description="; ".join(filter(None, (found, images.left_out_text))),
    )


def _images_by_role(counts: Published) -> str:
    """``5,864 train, 5,924 test images``."""
    return ", ".join(f"{found.images:,} {role}" for role, found in counts.items()) + " images"

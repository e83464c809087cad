"""A look at every image of a data set, before a training finds a broken one at epoch 37."""

import hashlib
import io
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from PIL import Image

from podium.trainables.dataset_readers.image_list import ImageList, Role
from podium.trainables.errors import plain_file
from podium.trainables.file_caches.build_progress import in_threads
from podium.trainables.file_caches.image_files import is_see_through, rgb_of

# Pixels of the shorter side below which there is little to see once it is resized to 256.
TINY = 32

_ORIENTATION = 0x0112  # of EXIF


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleCheck:
    """The images of one role.

    ``singletons`` counts classes with one image. ``modes`` counts images by Pillow's name for what
    a pixel is: "L" is grey, "RGBA" has transparency, "CMYK" is meant for print, "P" has a palette.
    ``smallest_side`` is in pixels; None if no image can be read.
    """

    role: Role
    classes: int
    images: int
    min_per_class: int
    median_per_class: float
    max_per_class: int
    singletons: int
    modes: dict[str, int]
    smallest_side: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCheck:
    """What a look at all images found.

    ``broken`` has the images that cannot be read, each with the reason.
    ``tiny`` has images with a side below `TINY`, ``queries_without_gallery`` classes that are
    asked for and cannot be found, ``see_through`` images of which a pixel is transparent,
    ``turned`` those that were not held upright, by their EXIF, ``duplicates`` groups of files of
    equal bytes, or None if they were not looked for. ``leaks`` are those of the groups with images
    to train on and others.
    """

    roles: tuple[RoleCheck, ...]
    broken: tuple[tuple[Path, str], ...]
    tiny: tuple[Path, ...]
    see_through: tuple[Path, ...]
    turned: tuple[Path, ...]
    queries_without_gallery: tuple[str, ...]
    duplicates: tuple[tuple[Path, ...], ...] | None
    leaks: tuple[tuple[Path, ...], ...] | None


class _Seen(NamedTuple):
    """One image; ``reason`` is why it cannot be read."""

    mode: str = ""
    side: int = 0
    is_see_through: bool = False
    is_turned: bool = False
    digest: bytes = b""
    reason: str = ""


def check_images(images: ImageList, *, find_duplicates: bool = False) -> ImageCheck:
    """Decode every image as a trial does; for duplicates, compare the bytes of the files too."""
    # Without Pillow's warnings about odd metadata and large images: both can be trained on.
    with warnings.catch_warnings(action="ignore"):
        look = partial(_look, hashed=find_duplicates)
        seen = list(in_threads(look, images.paths, what="checking images"))
    looked = list(zip(images.paths, seen, strict=True))
    duplicates = _duplicates(looked) if find_duplicates else None
    return ImageCheck(
        roles=tuple(
            _role_check(
                role,
                labels,
                [one for one, of in zip(seen, images.roles, strict=True) if of == role],
            )
            for role, labels in images.labels_by_role().items()
        ),
        broken=tuple((path, found.reason) for path, found in looked if found.reason),
        tiny=tuple(path for path, found in looked if not found.reason and found.side < TINY),
        see_through=tuple(path for path, found in looked if found.is_see_through),
        turned=tuple(path for path, found in looked if found.is_turned),
        queries_without_gallery=_queries_without_gallery(images),
        duplicates=duplicates,
        leaks=None if duplicates is None else _leaks(images, duplicates),
    )


def _look(path: Path, hashed: bool) -> _Seen:
    try:
        content = plain_file(path).read_bytes()
        side = min(rgb_of(content).size)
    except OSError as error:
        return _Seen(reason=error.strerror or str(error))
    except ValueError as error:
        return _Seen(reason=str(error))
    with Image.open(io.BytesIO(content)) as image:
        return _Seen(
            mode=image.mode,
            side=side,
            is_see_through=is_see_through(image),
            is_turned=image.getexif().get(_ORIENTATION, 1) != 1,
            digest=hashlib.sha256(content).digest() if hashed else b"",
        )


def _role_check(role: Role, labels: Sequence[int], seen: Sequence[_Seen]) -> RoleCheck:
    sizes = Counter(labels).values()
    whole = [found for found in seen if not found.reason]
    return RoleCheck(
        role=role,
        classes=len(sizes),
        images=len(labels),
        min_per_class=min(sizes),
        median_per_class=float(median(sizes)),
        max_per_class=max(sizes),
        singletons=sum(size == 1 for size in sizes),
        modes=dict(Counter(found.mode for found in whole).most_common()),
        smallest_side=min((found.side for found in whole), default=None),
    )


def _queries_without_gallery(images: ImageList) -> tuple[str, ...]:
    labels = images.labels_by_role()
    lost = set(labels.get("query", ())) - set(labels.get("gallery", ()))
    return tuple(images.class_names[label] for label in sorted(lost))


def _duplicates(looked: Sequence[tuple[Path, _Seen]]) -> tuple[tuple[Path, ...], ...]:
    groups: dict[bytes, list[Path]] = defaultdict(list)
    for path, found in looked:
        if not found.reason:
            groups[found.digest].append(path)
    return tuple(tuple(paths) for paths in groups.values() if len(paths) > 1)


def _leaks(
    images: ImageList, duplicates: Sequence[tuple[Path, ...]]
) -> tuple[tuple[Path, ...], ...]:
    train = {
        path for path, role in zip(images.paths, images.roles, strict=True) if role == "train"
    }
    return tuple(
        group for group in duplicates if 0 < sum(path in train for path in group) < len(group)
    )

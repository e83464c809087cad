"""What all readers share: where a data set lies, its text files, and whether it is all there."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from podium.trainables.dataset_readers.image_list import ImageList, LabelledImage, Published
from podium.trainables.errors import TrialInputError, first_of, plain_file


@dataclass(frozen=True, slots=True)
class Layout:
    """How a data set is unpacked, for finding it and for saying what is missing."""

    name: str
    tree: str
    source: str

    def find(self, root: Path, names: Iterable[str], *markers: str) -> Path:
        """The first of ``markers`` that lies in ``root``, or in one of ``names`` below it.

        Raises:
            TrialInputError: none does.
        """
        self.require_folder(root)
        for folder in (root, *(root / name for name in names)):
            for marker in markers:
                if (folder / marker).exists():
                    return folder / marker
        raise self.missing(f"{root} has no {' or '.join(markers)}")

    def require_folder(self, root: Path) -> None:
        """Refuse a root that is no folder."""
        if root.is_file():
            raise self.missing(f"root must be a folder, and {root} is a file")
        if not root.is_dir():
            raise self.missing(f"there is no folder {root}")

    def missing(self, what: str) -> TrialInputError:
        """The error for something that is not there, with the tree that was expected."""
        return TrialInputError(f"{self.name}: {what}\nExpected:\n{self.tree}\n{self.source}")

    def wrong(self, what: str) -> TrialInputError:
        """The error for something that is not as it should be."""
        return TrialInputError(f"{self.name}: {what}")

    def rows(
        self, file: Path, columns: Sequence[str], *, skip: int = 0
    ) -> Iterator[tuple[str, ...]]:
        """The lines of a text file, split at white space; empty ones are left out.

        So many lines at the top are skipped; each other one must have the named columns.

        Raises:
            TrialInputError: the file cannot be read, or a line has another number of columns.
        """
        for number, line in enumerate(self.lines(file)[skip:], start=skip + 1):
            cells = tuple(line.split())
            if cells and len(cells) != len(columns):
                raise self.wrong(
                    f"{file}, line {number} must have {len(columns)} columns, "
                    f"{', '.join(columns)}; got {line!r}"
                )
            if cells:
                yield cells

    def lines(self, file: Path) -> list[str]:
        """The lines of a text file.

        Raises:
            TrialInputError: the file is not there or is no text.
        """
        try:
            return plain_file(file).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise self.missing(f"{file} is missing") from None
        except (OSError, UnicodeDecodeError) as error:
            raise self.wrong(f"{file} cannot be read: {error}") from error

    def whole(self, text: str, file: Path) -> int:
        """``text`` as a number of at least 1; else a TrialInputError."""
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise self.wrong(f"ids of {file} must be whole numbers from 1 on; got {text!r}")
        return int(text)

    def image_list(
        self, images: Sequence[LabelledImage], published: Published | None, *, allow_partial: bool
    ) -> ImageList:
        """The images in their order as a list, once it is checked that they are all there.

        Raises:
            TrialInputError: a file is missing or listed twice, a training class is on another
                side too, or there are other counts than those published.
        """
        twice = [
            path for path, count in Counter(image.path for image in images).items() if count > 1
        ]
        if twice:
            raise self.wrong(
                f"every image must be listed once; got {first_of(twice)} more than once"
            )
        # Folders are listed once: a look at each file is slow on NFS.
        listed = cache(_names_in)
        there = [image for image in images if image.path.name in listed(image.path.parent)]
        if len(there) < len(images) and not allow_partial:
            present = set(there)
            absent = [image.path for image in images if image not in present]
            raise self.missing(
                f"images that are missing: {len(absent)} of {len(images)}, {first_of(absent)} "
                f"({_WAY_ROUND})"
            )
        if not there:
            raise self.missing("there are no images")
        self._assert_class_disjoint(there)
        class_names = sorted({image.class_name for image in there})
        labels = {name: label for label, name in enumerate(class_names)}
        found = ImageList(
            dataset=self.name,
            paths=tuple(image.path for image in there),
            class_names=tuple(class_names),
            labels=tuple(labels[image.class_name] for image in there),
            roles=tuple(image.role for image in there),
        )
        if published is not None and not allow_partial:
            self._assert_published(found, published)
        return found

    def _assert_class_disjoint(self, images: Sequence[LabelledImage]) -> None:
        train = {image.class_name for image in images if image.role == "train"}
        other = {image.class_name for image in images if image.role != "train"}
        if shared := sorted(train & other):
            raise self.wrong(
                f"training and test classes must be disjoint; in both: {first_of(shared)}"
            )

    def _assert_published(self, found: ImageList, published: Published) -> None:
        counts = found.counts()
        wrong = [
            f"{role} must have {expected.classes} classes with {expected.images} images; got "
            + (f"{counts[role].classes} with {counts[role].images}" if role in counts else "none")
            for role, expected in published.items()
            if counts.get(role) != expected
        ]
        if wrong:
            raise self.wrong(f"{'; '.join(wrong)} ({_WAY_ROUND})")


_WAY_ROUND = "allow_partial: true, or --allow-partial of podium datasets, accepts what is there"


def _names_in(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()

"""What a reader returns: image files with their class and what each is for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

Role = Literal["train", "test", "query", "gallery"]


class LabelledImage(NamedTuple):
    """One image of a data set, as its annotations have it."""

    path: Path
    class_name: str
    role: Role


class RoleCounts(NamedTuple):
    """How many classes and images there are for one role."""

    classes: int
    images: int


# What the authors of a data set or the field's protocol say there is.
Published = Mapping[Role, RoleCounts]


@dataclass(frozen=True, slots=True)
class ImageList:
    """The images of a data set. Training classes are on no other side.

    ``paths``, ``labels`` and ``roles`` have one entry for each image, in the order of the data
    set's own lists. A label is the place of the class in ``class_names``, which is sorted.
    ``left_out`` counts what lies beside them and is no image of the data set, by what it is.
    """

    dataset: str
    paths: tuple[Path, ...]
    class_names: tuple[str, ...]
    labels: tuple[int, ...]
    roles: tuple[Role, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def left_out_text(self) -> str:
        """``left out: 3 files that end in .heic``; empty if nothing was."""
        parts = ", ".join(f"{count:,} {what}" for what, count in self.left_out.items())
        return f"left out: {parts}" if parts else ""

    def labels_by_role(self) -> dict[Role, list[int]]:
        """The labels of each role's images; roles in the order of their first image."""
        found: dict[Role, list[int]] = {}
        for role, label in zip(self.roles, self.labels, strict=True):
            found.setdefault(role, []).append(label)
        return found

    def counts(self) -> dict[Role, RoleCounts]:
        """Classes and images of each role."""
        return {
            role: RoleCounts(len(set(labels)), len(labels))
            for role, labels in self.labels_by_role().items()
        }

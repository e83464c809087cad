"""Which blocks resemble each other: those of one data set and backbone.

A loss that suits a data set and backbone suits them at every embedding dimension, so blocks that
share both repeat each other in part. Whoever asks whether a ranking holds on another data set or
backbone has as many independent answers as there are groups, not blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from podium.analysis.wording import counted

SHOWN_COLUMNS = {"dataset": "data sets", "backbone": "backbones"}  # columns of groups, in words
_DIGITS = 12  # of a mean over blocks, so that equal means tie whatever their rounding


@dataclass(frozen=True, kw_only=True)
class BlockGroups:
    """The B blocks of a tournament in G groups, numbered by first appearance.

    Attributes:
        columns: what the blocks of a group share; empty if every block is a group of its own.
        labels: group of each block.
    """

    columns: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Label of each group."""
        return tuple(dict.fromkeys(self.labels))

    @property
    def question(self) -> str:
        """Whether the order would hold elsewhere."""
        return f"Would the order hold on other {self.elsewhere}?"

    @property
    def number(self) -> int:
        """Count of groups."""
        return len(self.names)

    @property
    def noun(self) -> str:
        """``group``, or ``block`` if every block is a group of its own."""
        return "group" if self.columns else "block"

    @property
    def one(self) -> str:
        """``group of blocks`` or ``block``."""
        return "group of blocks" if self.columns else "block"

    @property
    def why_untestable(self) -> str:
        """Why a single group supports no test."""
        if self.number > 1:
            return ""
        if len(self.labels) == 1:
            return "One block shows an order but supports no test."
        return (
            f"The {len(self.labels)} blocks are {self.counted}: they show an order there, but"
            f" support no test of whether it holds on other {self.elsewhere}."
        )

    @property
    def elsewhere(self) -> str:
        """What other groups would be: ``data sets or backbones``."""
        shown = [SHOWN_COLUMNS[name] for name in self.columns]
        return " or ".join(shown) or "blocks"

    def more(self, number: int) -> str:
        """So many further groups: ``3 more data sets or backbones``, ``1 more block``."""
        shown = self.elsewhere if number > 1 else self.elsewhere.replace("s or", " or")[:-1]
        return f"{number} more {shown}"

    @property
    def counted(self) -> str:
        """Their number: ``3 groups of blocks with one data set and backbone``, ``12 blocks``."""
        shared = " and ".join(SHOWN_COLUMNS[name].removesuffix("s") for name in self.columns)
        return counted(self.number, self.noun) + (shared and f" of blocks with one {shared}")

    @cached_property
    def members(self) -> tuple[NDArray[np.intp], ...]:
        """Numbers of the blocks of each group."""
        return _members(self.labels)

    def means(self, values_BC: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean over the blocks of each group, G x C, to 12 digits; the values without groups."""
        if not self.columns:
            return values_BC
        means_GC = np.stack([values_BC[blocks].mean(axis=0) for blocks in self.members])
        largest = float(np.abs(means_GC).max())
        digits = _DIGITS - 1 - (int(np.floor(np.log10(largest))) if largest > 0 else 0)
        return means_GC.round(digits)


def members_by(
    blocks: Sequence[Mapping[str, object]], column: str
) -> tuple[NDArray[np.intp], ...]:
    """Numbers of the blocks of each value of a column, in the order of first appearance."""
    return _members([str(block[column]) for block in blocks])


def _members(labels: Sequence[str]) -> tuple[NDArray[np.intp], ...]:
    """Numbers of the blocks of each label, in the order of first appearance."""
    found: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        found.setdefault(label, []).append(number)
    return tuple(np.array(numbers) for numbers in found.values())


def block_groups(blocks: Sequence[Mapping[str, object]], labels: Sequence[str]) -> BlockGroups:
    """The groups of the blocks of a tournament, by those of data set and backbone that they have.

    Args:
        blocks: key of each block: column -> value; at least one block, all with the same columns.
        labels: key of each block as text.
    """
    columns = tuple(name for name in SHOWN_COLUMNS if name in blocks[0])
    of_group = tuple("/".join(str(block[name]) for name in columns) for block in blocks)
    if not columns or len(set(of_group)) == len(of_group):
        return BlockGroups(columns=(), labels=tuple(labels))
    return BlockGroups(columns=columns, labels=of_group)

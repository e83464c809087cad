"""What is equal between the competitors of a study and what differs, as stored and as text.

`orchestrator.study.fairness` computes it. It is stored with the snapshot of the study, since
recipes and spaces may have changed when the results are read. Field names are stored keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

Area = Literal["training", "search", "space", "loss", "protocol"]
DeclarationStatus = Literal["declared", "recipe", "noted", "undeclared"]

_MOST_NAMED = 6  # competitors that a sentence names
_MOST_BLOCKS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One value of a setting that differs, and the competitors that have it."""

    value: str
    competitors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparity:
    """One thing in which the competitors of some blocks differ.

    Attributes:
        name: training setting, or another name that may be declared.
        area: kind of difference. ``training``: how a loss is trained; ``search``: what its search
            knows beforehand; ``space``: how much its search covers; ``loss``: what follows from
            the loss itself; ``protocol``: how the protocols of a study differ, which are then the
            competitors.
        sides: values and who has them, at least two; competitors that ignore the setting are in
            none.
        blocks: labels of the blocks where they differ; empty for all.
        standing: what accounts for it. ``declared``: the study file; ``recipe``: the source of
            the recipe;
            ``undeclared``; ``noted``: it needs no declaration.
        reason: reason given by the study file or the recipe; empty if there is none.
    """

    name: str
    area: Area
    sides: Annotated[tuple[Side, ...], Field(min_length=1)]
    blocks: tuple[str, ...] = ()
    standing: DeclarationStatus = "noted"
    reason: str = ""

    @property
    def label(self) -> str:
        """The name: as it is if it is a key of the study file, else with spaces."""
        is_key = self.area in ("training", "search")
        return self.name if is_key else self.name.replace("_", " ")

    @property
    def values(self) -> str:
        """``0.01 for triplet; 0.001 for the others``: the largest side last if it is large."""
        ordered = sorted(self.sides, key=lambda side: len(side.competitors) > _MOST_NAMED)
        last = ordered[-1] if len(ordered[-1].competitors) > _MOST_NAMED else None
        texts = [
            f"{side.value} for {'the others' if side is last else join_names(side.competitors)}"
            for side in ordered
        ]
        return "; ".join(texts)

    @property
    def where(self) -> str:
        """``in cub200/resnet50/64``, ``in 12 settings``; empty if it holds in all blocks."""
        if not self.blocks:
            return ""
        few = len(self.blocks) <= _MOST_BLOCKS
        return f"in {' and '.join(self.blocks) if few else f'{len(self.blocks)} settings'}"

    @property
    def by(self) -> str:
        """Who accounts for it, as text; empty if it needs no declaration."""
        words = {
            "declared": "declared in the study file",
            "recipe": "by the recipe",
            "undeclared": "not declared",
            "noted": "",
        }
        return words[self.standing]

    def separates(self, one: str, other: str) -> bool:
        """Whether two competitors have different values; False if either ignores the setting."""
        sides = {name: side.value for side in self.sides for name in side.competitors}
        return one in sides and other in sides and sides[one] != sides[other]

    def __str__(self) -> str:
        place = f" {self.where}" if self.blocks else ""
        because = f" ({self.by}: {self.reason})" if self.reason else f" ({self.by})"
        return f"{self.label}{place}: {self.values}{because if self.by else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """What the competitors of a study share and in what they differ.

    Attributes:
        equal: what all competitors of a block share -> its value, as text.
        settings: training setting that all share -> its value, as text.
        disparities: what differs; training settings first.
    """

    equal: Mapping[str, str]
    settings: Mapping[str, str]
    disparities: tuple[Disparity, ...]


def summarise_differences(disparities: Sequence[Disparity]) -> str:
    """One line on all differences, without a period; empty if nothing differs.

    ``sampler (by the recipe), epochs (declared in the study file), searched hyperparameters (2 to
    5)``. Differences that follow from the losses themselves or are between protocols are left out.
    """
    listed = [it for it in disparities if it.area not in ("loss", "protocol")]
    return ", ".join(dict.fromkeys(f"{it.label} ({it.by or _span(it)})" for it in listed))


def join_names(competitors: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of more than seven the first six and how many more."""
    names = list(competitors)
    if len(names) > _MOST_NAMED + 1:
        names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} others"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _span(disparity: Disparity) -> str:
    """``2 to 5`` of numbers, else all values."""
    values = [side.value for side in disparity.sides]
    if all(value.isdigit() for value in values):
        numbers = sorted(map(int, values))
        return f"{numbers[0]} to {numbers[-1]}"
    return " or ".join(values)

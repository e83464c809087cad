"""What is equal between the competitors of a study and what is not, as it is stored and told.

`orchestrator.study.fairness` finds it out. It is frozen beside the study, since recipes and spaces
may be others when the results are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ["Area", "Disparity", "Fairness", "Side", "Standing", "brief", "named"]

Area = Literal["training", "search", "space", "loss", "protocol"]
Standing = Literal["declared", "recipe", "noted", "undeclared"]

_MOST_NAMED = 6  # competitors that a sentence names
_MOST_BLOCKS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One value of what differs, and who has it."""

    value: str
    competitors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparity:
    """One thing in which the competitors of some blocks differ.

    Attributes:
        name: of a setting of training, or of another thing that may be declared.
        area: what it is about. ``training``: how a loss is trained; ``search``: what its search
            knows beforehand; ``space``: how much its search covers; ``loss``: what follows from
            the loss itself; ``protocol``: how the protocols of a study differ, which are then the
            competitors.
        sides: at least two; a competitor that does not heed the setting is on none.
        blocks: where it is so; empty for everywhere.
        standing: ``declared`` in the study file; ``recipe``: the recipe's source says so;
            ``undeclared``; ``noted``: it needs no declaration.
        reason: in the words of the study file or the recipe; empty if there is none.
    """

    name: str
    area: Area
    sides: tuple[Side, ...]
    blocks: tuple[str, ...] = ()
    standing: Standing = "noted"
    reason: str = ""

    @property
    def label(self) -> str:
        """What is a key of the study file by that key, other things in words."""
        is_key = self.area in ("training", "search")
        return self.name if is_key else self.name.replace("_", " ")

    @property
    def values(self) -> str:
        """``0.01 for triplet; 0.001 for the others``: the largest side last if it is large."""
        ordered = sorted(self.sides, key=lambda side: len(side.competitors) > _MOST_NAMED)
        last = ordered[-1] if len(ordered[-1].competitors) > _MOST_NAMED else None
        texts = [
            f"{side.value} for {'the others' if side is last else named(side.competitors)}"
            for side in ordered
        ]
        return "; ".join(texts)

    @property
    def where(self) -> str:
        """``in cub200/resnet50/64``, ``in 12 blocks``; empty for everywhere."""
        if not self.blocks:
            return ""
        few = len(self.blocks) <= _MOST_BLOCKS
        return f"in {' and '.join(self.blocks) if few else f'{len(self.blocks)} blocks'}"

    @property
    def by(self) -> str:
        """Who answers for it, in words; empty if it needs no answer."""
        words = {
            "declared": "declared in the study file",
            "recipe": "by the recipe",
            "undeclared": "not declared",
            "noted": "",
        }
        return words[self.standing]

    def separates(self, one: str, other: str) -> bool:
        """Whether two competitors are on different sides."""
        sides = {name: side.value for side in self.sides for name in side.competitors}
        return one in sides and other in sides and sides[one] != sides[other]

    def __str__(self) -> str:
        place = f" {self.where}" if self.blocks else ""
        because = f" ({self.by}: {self.reason})" if self.reason else f" ({self.by})"
        return f"{self.label}{place}: {self.values}{because if self.by else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """Both sides of a comparison.

    Attributes:
        equal: what is the same for all competitors of a block -> what it is, in words.
        settings: setting of training that is the same for all -> its value.
        disparities: what is not; those of training first.
    """

    equal: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    disparities: tuple[Disparity, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Fairness":
        """The inverse of `to_dict` (lists become tuples again).

        Raises:
            KeyError, TypeError: these are other values.
        """
        return cls(
            equal=dict(values["equal"]),
            settings=dict(values["settings"]),
            disparities=tuple(map(_disparity, values["disparities"])),
        )


def brief(disparities: Sequence[Disparity]) -> str:
    """What stands beside a comparison, without a period; empty if nothing differs.

    ``sampler (by the recipe), epochs (declared in the study file), searched hyperparameters (2 to
    5)``. What follows from the losses themselves is left out, and what is between protocols.
    """
    told = [it for it in disparities if it.area not in ("loss", "protocol")]
    texts: dict[str, None] = {}
    for item in told:
        texts[f"{item.label} ({item.by or _span(item)})"] = None
    return ", ".join(texts)


def named(competitors: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many some, and how many more."""
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


def _disparity(values: Mapping[str, Any]) -> Disparity:
    sides = tuple(
        Side(value=side["value"], competitors=tuple(side["competitors"]))
        for side in values["sides"]
    )
    return Disparity(**{**values, "sides": sides, "blocks": tuple(values["blocks"])})

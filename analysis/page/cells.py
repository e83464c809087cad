"""The scores behind a ranking, embedded in a page so that the browser can rank a part of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """What blocks can be chosen by.

    Attributes:
        name: name of the column, as ``podium tournament --where`` takes it.
        label: the same in words.
        values: value of each block as text; None where it has none.
    """

    name: str
    label: str
    values: tuple[str | None, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """Its values, each once, in the order of the blocks."""
        return tuple(dict.fromkeys(value for value in self.values if value is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellScores:
    """One score of all cells.

    Attributes:
        label: name of the score, such as ``Recall@4``.
        arguments: what the command takes to rank by it; () where it does so by itself.
        k: its K; None of a metric without.
        drops_unscored: whether a competitor without any score is left out, rather than leaving no
            block complete.
        values: B x C scores with all their digits, block by block; None where there is none.
        absent: positions in ``values`` of competitors that have no row in a block, rather than one
            without a score.
    """

    label: str
    arguments: tuple[str, ...]
    k: int | None
    drops_unscored: bool
    values: tuple[float | None, ...]
    absent: tuple[int, ...]

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "label": self.label,
            "arguments": self.arguments,
            "k": self.k,
            "dropsUnscored": self.drops_unscored,
            "values": self.values,
            "absent": self.absent,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What intervals and Nemenyi's test need that no scores say.

    Attributes:
        groups: number of the group of each block; blocks of one group count as one answer.
        alpha: significance level.
        reaches: how many standard errors Student's t interval over 3, 4, ... groups reaches.
        ranges: number of competitors -> quantile of their studentized range at this level.
    """

    groups: tuple[int, ...]
    alpha: float
    reaches: tuple[float, ...]
    ranges: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Scores of C competitors in B blocks.

    Attributes:
        command: words of the command that ranks all blocks.
        factors: what blocks can be chosen by, each with several values.
        blocks: names of the blocks.
        competitors: names of the competitors, sorted.
        scores: the scores that can be ranked by.
        shown: position of the one that the page ranks by.
        every_k: positions of the scores, by ascending K, of the figure of ranks by K.
        dimension: name of the factor of embedding dimensions; None without.
        scale: factor from the scores to what the page shows.
        units: what the tests count; None where they count runs, whose scores no cells hold.
    """

    command: tuple[str, ...]
    factors: tuple[Factor, ...]
    blocks: tuple[str, ...]
    competitors: tuple[str, ...]
    scores: tuple[CellScores, ...]
    shown: int
    every_k: tuple[int, ...]
    dimension: str | None
    scale: int
    units: Units | None

    def record(self) -> dict[str, Any]:
        """As JSON has it; values of factors are positions among its choices."""
        return {
            "command": self.command,
            "factors": [
                {
                    "name": factor.name,
                    "label": factor.label,
                    "choices": factor.choices,
                    "values": _positions(factor.values, factor.choices),
                }
                for factor in self.factors
            ],
            "blocks": self.blocks,
            "competitors": self.competitors,
            "scores": [score.record() for score in self.scores],
            "shown": self.shown,
            "everyK": self.every_k,
            "dimension": self.dimension,
            "scale": self.scale,
            "units": asdict(self.units) if self.units else None,
        }


def _positions(values: Sequence[str | None], choices: Sequence[str]) -> list[int | None]:
    position = {choice: place for place, choice in enumerate(choices)}
    return [None if value is None else position[value] for value in values]

"""An axis of a plot of lines or points as values."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from podium.analysis.figures.plot import rounded

_FEW_TIMES = 4  # costs further apart than this are drawn on a logarithmic axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis; larger values are at the right or at the top.

    Attributes:
        label: what the values are, with their unit.
        scale: linear, or logarithmic, where every value is above 0.
        limits: first and last value; the last is the smaller one where the axis is reversed. None
            for the range of the values with a margin.
        ticks: values that have a tick, each with its text; () for round numbers.
        digits: decimals of values as text.
        is_ordinal: whether the ticks are categories, whose distances mean nothing.
    """

    label: str
    scale: Literal["linear", "log"] = "linear"
    limits: tuple[float, float] | None = None
    ticks: tuple[tuple[float, str], ...] = ()
    digits: int = 2
    is_ordinal: bool = False

    @classmethod
    def of_categories(cls, label: str, names: Sequence[str]) -> Self:
        """Categories in this order at 0, 1, 2 and so on."""
        return cls(
            label=label,
            limits=(-0.25, len(names) - 0.75),
            ticks=tuple((float(position), name) for position, name in enumerate(names)),
            is_ordinal=True,
        )

    @classmethod
    def of_costs(cls, label: str, costs: Collection[float]) -> Self:
        """Costs above 0, on a logarithmic axis where they are far apart."""
        is_far = max(costs) > _FEW_TIMES * min(costs)
        return cls(label=label, scale="log" if is_far else "linear")

    def as_values(self) -> dict[str, Any]:
        """The axis as JSON has it."""
        return asdict(self) | {
            "limits": None if self.limits is None else [rounded(end) for end in self.limits],
            "ticks": [[rounded(at), text] for at, text in self.ticks],
        }

"""A published table of a rank tournament, as it is printed: one row per competitor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from analysis.typed_tables.printed_numbers import Printed, printed_column
from analysis.typed_tables.row_filters import missing_column
from podium.errors import PodiumError

Role = Literal["total", "average", "sd"]

# Names of these columns in published tables, the least ambiguous first.
_NAMES: dict[Role, tuple[str, ...]] = {
    "total": ("total_rank", "rank_total", "rank_sum", "sum_of_ranks", "total"),
    "average": ("average_rank", "avg_rank", "mean_rank", "rank_mean", "average", "avg", "mean"),
    "sd": ("rank_std", "rank_sd", "std_rank", "sd_rank", "std", "sd", "stdev"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """What is printed of one competitor; None where the cell is empty or the column absent.

    Attributes:
        name: name of the competitor.
        total: sum of its ranks over blocks.
        average: mean of its ranks over blocks.
        sd: standard deviation of its ranks over blocks.
    """

    name: str
    total: Printed | None
    average: Printed | None
    sd: Printed | None

    def cell(self, role: Role) -> Printed | None:
        """The value of a role."""
        return {"total": self.total, "average": self.average, "sd": self.sd}[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTable:
    """A published tournament.

    Attributes:
        rows: one per competitor, in the order of the table.
        columns: role -> name of its column, of the roles that the table has.
    """

    rows: tuple[RankRow, ...]
    columns: Mapping[Role, str]

    @property
    def names(self) -> list[str]:
        """The competitors in the order of the table."""
        return [row.name for row in self.rows]


def rank_columns(columns: Sequence[str]) -> dict[Role, str]:
    """Role -> column, of the roles that a table has; case and spaces of names are ignored."""
    found: dict[Role, str] = {}
    lower = {name.strip().lower().replace(" ", "_"): name for name in columns}
    for role in get_args(Role):
        match = next((lower[name] for name in _NAMES[role] if name in lower), None)
        if match is not None:
            found[role] = match
    return found


def rank_table(frame: pl.DataFrame, *, competitor: str, source: str) -> RankTable:
    """Read a published tournament.

    Args:
        frame: one row per competitor, cells as typed.
        competitor: name of the column of competitors.
        source: path of the table, for messages.

    Raises:
        PodiumError: there is no such column, neither totals nor averages, no two competitors, an
            empty name, or text among the numbers.
    """
    if competitor not in frame.columns:
        raise missing_column(competitor, frame.columns, source=source)
    columns = rank_columns([name for name in frame.columns if name != competitor])
    if "total" not in columns and "average" not in columns:
        known = ", ".join((*_NAMES["total"], *_NAMES["average"]))
        raise PodiumError(
            f"{source} is no table of a tournament: it has neither rank totals nor average ranks"
            f" (columns: {', '.join(frame.columns)}; known names: {known})"
        )
    names = [str(name).strip() if name is not None else "" for name in frame[competitor]]
    if "" in names:
        row = names.index("") + 1
        raise PodiumError(f"column {competitor!r} of {source} is empty in row {row}")
    if len(set(names)) < 2:
        raise PodiumError(
            f"a tournament needs at least two competitors; column {competitor!r} of {source} holds"
            f" {', '.join(names) or 'none'}"
        )
    empty: list[Printed | None] = [None] * len(names)
    cells = {
        role: printed_column(frame[columns[role]].to_list(), column=columns[role], source=source)
        if role in columns
        else empty
        for role in get_args(Role)
    }
    return RankTable(
        rows=tuple(
            RankRow(name=name, total=total, average=average, sd=sd)
            for name, total, average, sd in zip(
                names, cells["total"], cells["average"], cells["sd"], strict=True
            )
        ),
        columns=columns,
    )

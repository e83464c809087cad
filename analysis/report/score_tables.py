"""Tables of scores in the layout of papers: losses below each other, blocks beside each other."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import SideBySide
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.scores.score_grid import ScoreGrid
from podium.analysis.wording import MISSING, counted, number

_FEW_COLUMNS = 6  # two such tables fit beside each other on a screen

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How scores are shown.

    Attributes:
        word: what the scores are, with their unit: ``Recall@1 in %``.
        heads: heads of columns by K, in the order of the columns; empty for a single K.
        digits: decimals of a score.
        is_larger_better: False if the smallest is the best, as of distances.
    """

    word: str
    heads: Mapping[int, str]
    digits: int = 2
    is_larger_better: bool = True

    def best(self, scores: Sequence[float]) -> float | None:
        """The best score of a column; None without scores."""
        return (max if self.is_larger_better else min)(scores, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    """The table of a score and the heads above it; ``order`` sorts columns."""

    panel: str
    group: str
    head: str
    order: tuple[float, ...]


def block_tables(
    grid: ScoreGrid, series: Mapping[str, Series], scale: Scale, *, name: str
) -> tuple[Table, ...]:
    """One K: a table a data set, columns embedding dimensions under backbones.

    Without dimensions or backbones columns are what there is; with one network for all data sets
    these are the columns of one table. The best of each column is bold, all of them if several
    tie; baselines are last and cannot be best.
    """
    rows = _rows(grid)
    has_one_network = len({(row["backbone"], row["dim"]) for row in rows}) == 1
    position = _data_set_position if has_one_network else _block_position
    return _tables(grid, series, scale, [position(row, grid) for row in rows], name)


def k_tables(
    grid: ScoreGrid, series: Mapping[str, Series], scale: Scale, *, name: str
) -> tuple[Table, ...]:
    """All K: a table a data set and backbone, columns K under embedding dimensions."""
    orders = {k: order for order, k in enumerate(scale.heads)}
    positions = [_k_position(row, scale, orders) for row in _rows(grid)]
    return _tables(grid, series, scale, positions, name)


def widest(tables: Sequence[Table]) -> int:
    """The number of columns of scores of the widest table; 0 without tables."""
    return max((len(table.columns) - 1 for table in tables), default=0)


def arrange(tables: Sequence[Table]) -> tuple[Table | SideBySide, ...]:
    """Several narrow tables beside each other, others below each other."""
    if len(tables) > 1 and widest(tables) <= _FEW_COLUMNS:
        return (SideBySide(parts=tuple(tables)),)
    return tuple(tables)


def _rows(grid: ScoreGrid) -> list[dict[str, Any]]:
    return grid.rows.to_dicts()


def _data_set_position(row: _Row, grid: ScoreGrid) -> _Position:
    named = (
        row["backbone"] if grid.has_backbones else "",
        _dim_text(row) if grid.has_dims else "",
    )
    group = ", ".join(filter(None, named))
    return _Position(panel="", group=group, head=row["place"], order=(row["dim"] or 0.0,))


def _dim_text(row: _Row) -> str:
    return f"{row['dim']:g} dimensions"


def _block_position(row: _Row, grid: ScoreGrid) -> _Position:
    if grid.has_dims and grid.has_backbones:
        heads = (row["place"], row["backbone"], f"{row['dim']:g}")
    elif grid.has_dims:
        heads = ("", row["place"], f"{row['dim']:g}")
    elif grid.has_backbones:
        heads = ("", row["place"], row["backbone"])
    else:
        heads = ("", "", row["place"])
    panel, group, head = heads
    return _Position(panel=panel, group=group, head=head, order=(row["dim"] or 0.0,))


def _k_position(row: _Row, scale: Scale, orders: Mapping[int, int]) -> _Position:
    panel = ", ".join(text for text in (row["place"], row["backbone"]) if text)
    group = "" if row["dim"] is None else _dim_text(row)
    return _Position(
        panel=panel,
        group=group,
        head=scale.heads[row["k"]],
        order=(row["dim"] or 0.0, orders[row["k"]]),
    )


def _tables(
    grid: ScoreGrid,
    series: Mapping[str, Series],
    scale: Scale,
    positions: Sequence[_Position],
    name: str,
) -> tuple[Table, ...]:
    placed = sorted(zip(positions, _rows(grid), strict=True), key=lambda pair: pair[0].panel)
    panels = itertools.groupby(placed, key=lambda pair: pair[0].panel)
    return tuple(
        _table(panel, list(cells), series, scale, grid.run_noun, f"{name}-{position}")
        for position, (panel, cells) in enumerate(panels)
    )


def _table(
    panel: str,
    cells: Sequence[tuple[_Position, _Row]],
    series: Mapping[str, Series],
    scale: Scale,
    run_noun: str,
    name: str,
) -> Table:
    positions = dict.fromkeys(sorted((position for position, _ in cells), key=_column_order))
    found = {(position, row["loss"]): row for position, row in cells}
    losses = [loss for _, loss in sorted({(row["is_baseline"], row["loss"]) for _, row in cells})]

    def column(position: _Position) -> Column:
        best = scale.best(_scores(cells, position))
        return Column(
            label=position.head,
            group=position.group,
            cell=lambda loss: _cell(found.get((position, loss)), best, scale),
        )

    return table(
        losses,
        (Column.named("Loss", str, series), *map(column, positions)),
        name=name,
        caption=_caption(panel, [row for _, row in cells], scale, run_noun),
        note=_missing_note([found.get((it, loss)) for it in positions for loss in losses]),
    )


def _column_order(position: _Position) -> tuple[object, ...]:
    return (position.order[:-1], position.group, position.order[-1], position.head)


def _scores(cells: Sequence[tuple[_Position, _Row]], column: _Position) -> list[float]:
    return [
        row["score"]
        for position, row in cells
        if position == column and row["score"] is not None and not row["is_baseline"]
    ]


def _cell(row: _Row | None, best: float | None, scale: Scale) -> Cell:
    if row is None or row["score"] is None:
        return Cell(text="failed" if row and row["num_failed"] else MISSING)
    return Cell(
        text=number(row["score"], scale.digits),
        detail=", ".join(_details(row, scale)),
        is_best=not row["is_baseline"] and row["score"] == best,
        order=row["score"],
    )


def _details(row: _Row, scale: Scale) -> Iterator[str]:
    if row["std"] is not None:
        yield f"± {number(row['std'], scale.digits)}"
    if row["num_failed"]:
        yield f"{row['num_failed']} failed"


def _caption(panel: str, rows: Sequence[_Row], scale: Scale, noun: str) -> str:
    opening = f"{panel}: {scale.word}" if panel else scale.word[0].upper() + scale.word[1:]
    scores = sum(row["score"] is not None for row in rows)
    return (
        f"{opening}, {counted(scores, 'score')}; the best of each column is"
        f" bold.{_means(rows, noun)}"
    )


def _means(rows: Sequence[_Row], noun: str) -> str:
    """Over how many runs of trained losses a score is the mean, and what is shown below it."""
    known = [row for row in rows if row["score"] is not None and not row["is_baseline"]]
    counts = sorted({row["num_runs"] for row in known if row["num_runs"]})
    if not counts:
        return ""
    if counts[-1] == 1:
        return f" {counted(1, noun)} each."
    fewer = "" if counts[0] == counts[-1] else f"{counts[0]} to "
    mean = f" Mean of {fewer}{counted(counts[-1], noun)}"
    has_spread = any(row["std"] is not None for row in known)
    return f"{mean}, below it their sample standard deviation." if has_spread else f"{mean}."


def _missing_note(rows: Sequence[_Row | None]) -> str:
    """How many cells are missing and how many failed; empty if none."""
    failed = sum(1 for row in rows if row and row["score"] is None and row["num_failed"])
    missing = sum(1 for row in rows if row is None or row["score"] is None) - failed
    parts = []
    if missing:
        parts.append(f"{counted(missing, 'cell')} missing ({MISSING})")
    if failed:
        parts.append(f"{counted(failed, 'cell')} in which every trial failed")
    return f"{' and '.join(parts)}." if parts else ""

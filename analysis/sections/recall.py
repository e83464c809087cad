"""Recall@K, or nDCG@K, of the tuned losses, one table a block."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.style import Series
from analysis.load import BASELINE
from analysis.page import Cell, Column, Table
from analysis.study_results import PERCENT, StudyResults
from analysis.wording import MISSING, counted, number
from orchestrator.results.metrics import short_label

__all__ = ["recall_tables"]


def recall_tables(results: StudyResults, series: Mapping[str, Series]) -> tuple[Table, ...]:
    """Rows losses, columns K; the best of each K in bold, all of them if several tie.

    The untrained network is listed last and cannot be best.
    """
    shown = results.cells.filter(pl.col("finalist").is_in(["winner", BASELINE]))
    parts = shown.partition_by("block", "protocol", maintain_order=True, as_dict=True)
    several = shown["protocol"].n_unique() > 1
    return tuple(
        _table(
            number_,
            f"{block} ({protocol})" if several else str(block),
            part.to_dicts(),
            results,
            series,
        )
        for number_, ((block, protocol), part) in enumerate(sorted(parts.items()))
    )


def _table(
    position: int,
    block: str,
    cells: list[dict[str, Any]],
    results: StudyResults,
    series: Mapping[str, Series],
) -> Table:
    ks = results.ks
    found = {(cell["loss"], cell["k"]): cell for cell in cells}
    losses = sorted({cell["loss"] for cell in cells}, key=lambda loss: (loss == BASELINE, loss))
    best = {k: _best(cells, k) for k in ks}
    rows = [
        (
            Cell(text=loss, series=series.get(loss), order=loss),
            *(_cell(found.get((loss, k)), best[k]) for k in ks),
        )
        for loss in losses
    ]
    seeds = sorted({cell["num_seeds"] for cell in cells if cell["loss"] != BASELINE})
    return Table(
        name=f"recall-{position}",
        caption=f"{block}, {_seeds(seeds)}",
        columns=(
            Column(label="Loss", is_number=False),
            *(Column(label=short_label(results.objective, k)) for k in ks),
        ),
        rows=tuple(rows),
    )


def _best(cells: list[dict[str, Any]], k: int) -> float | None:
    values = [
        cell["recall"]
        for cell in cells
        if cell["k"] == k and cell["loss"] != BASELINE and cell["recall"] is not None
    ]
    return max(values, default=None)


def _cell(cell: Mapping[str, Any] | None, best: float | None) -> Cell:
    if cell is None or cell["recall"] is None:
        return Cell(text="failed" if cell and cell["num_failed"] else MISSING)
    recall, std = cell["recall"], cell["seed_std"]
    return Cell(
        text=number(PERCENT * recall),
        detail="" if std is None else f"± {number(PERCENT * std)}",
        order=recall,
        is_best=cell["loss"] != BASELINE and recall == best,
    )


def _seeds(counts: list[int]) -> str:
    most = max(counts, default=0)
    fewer = "" if min(counts, default=0) == most else f"{min(counts)} to "
    return f"{fewer}{counted(most, 'seed')}"

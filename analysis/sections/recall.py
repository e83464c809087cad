"""Recall@K of the tuned losses, or what continuous labels have in its place; one table a block."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.figures.style import Series
from analysis.load import BASELINE
from analysis.page import Cell, Column, Paragraph, Section, SideBySide, Table
from analysis.sections.fairness import beside
from analysis.study_results import PERCENT, StudyResults
from analysis.wording import MISSING, counted, number
from orchestrator.results.metrics import metric_label, short_label

__all__ = ["recall_tables"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metric:
    """How the scores of one metric are shown.

    The objective is a share, of which the largest is the best; anything else is a distance.
    """

    name: str
    ks: tuple[int, ...]
    is_objective: bool

    @property
    def factor(self) -> int:
        return PERCENT if self.is_objective else 1

    @property
    def digits(self) -> int:
        return 2 if self.is_objective else 4

    def label(self, k: int) -> str:
        return short_label(self.name, k) if self.is_objective else metric_label(self.name, k)

    def best(self, values: list[float]) -> float | None:
        return (max if self.is_objective else min)(values, default=None)


def recall_tables(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """One table a block and metric."""
    text = (
        "Tuned losses on the test classes, in %: the mean over seeds, and below it their standard"
        " deviation (ddof 1). The best of each column is bold."
    )
    if results.further_cells:
        text += (
            " Mean label distances are in the unit of the labels; there the smallest is the best."
        )
    tables = _all_tables(results, series)
    return Section(
        name="recall",
        title=f"{results.metric_word}@K on unseen classes",
        label=f"{results.metric_word}@K",
        parts=(
            Paragraph(text=text),
            *beside(results),
            *((SideBySide(parts=tables),) if tables else ()),
        ),
    )


def _all_tables(results: StudyResults, series: Mapping[str, Series]) -> tuple[Table, ...]:
    """Rows losses, columns K; the best of each K in bold, all of them if several tie.

    The untrained network is listed last and cannot be best.
    """
    objective = _Metric(name=results.objective, ks=results.ks, is_objective=True)
    tables = _tables(objective, results.cells, series)
    for name, cells in results.further_cells.items():
        further = _Metric(name=name, ks=results.ks, is_objective=False)
        tables += _tables(further, cells, series)
    return tables


def _tables(
    metric: _Metric, cells: pl.DataFrame, series: Mapping[str, Series]
) -> tuple[Table, ...]:
    shown = cells.filter(pl.col("finalist").is_in(["winner", BASELINE]))
    parts = shown.partition_by("block", "protocol", maintain_order=True, as_dict=True)
    several = shown["protocol"].n_unique() > 1
    return tuple(
        _table(
            position,
            f"{block} ({protocol})" if several else str(block),
            part.to_dicts(),
            metric,
            series,
        )
        for position, ((block, protocol), part) in enumerate(sorted(parts.items()))
    )


def _table(
    position: int,
    block: str,
    cells: list[dict[str, Any]],
    metric: _Metric,
    series: Mapping[str, Series],
) -> Table:
    found = {(cell["loss"], cell["k"]): cell for cell in cells}
    losses = sorted({cell["loss"] for cell in cells}, key=lambda loss: (loss == BASELINE, loss))
    best = {k: _best(cells, k, metric) for k in metric.ks}
    rows = [
        (
            Cell(text=loss, series=series.get(loss), order=loss),
            *(_cell(found.get((loss, k)), best[k], metric) for k in metric.ks),
        )
        for loss in losses
    ]
    seeds = sorted({cell["num_seeds"] for cell in cells if cell["loss"] != BASELINE})
    return Table(
        name=f"{metric.name.replace('_', '-')}-{position}",
        caption=f"{block}, {_seeds(seeds)}",
        columns=(
            Column(label="Loss", is_number=False),
            *(Column(label=metric.label(k)) for k in metric.ks),
        ),
        rows=tuple(rows),
    )


def _best(cells: list[dict[str, Any]], k: int, metric: _Metric) -> float | None:
    values = [
        cell["recall"]
        for cell in cells
        if cell["k"] == k and cell["loss"] != BASELINE and cell["recall"] is not None
    ]
    return metric.best(values)


def _cell(cell: Mapping[str, Any] | None, best: float | None, metric: _Metric) -> Cell:
    if cell is None or cell["recall"] is None:
        return Cell(text="failed" if cell and cell["num_failed"] else MISSING)
    score, std = cell["recall"], cell["seed_std"]
    spread = None if std is None else number(metric.factor * std, metric.digits)
    return Cell(
        text=number(metric.factor * score, metric.digits),
        detail="" if spread is None else f"± {spread}",
        order=score,
        is_best=cell["loss"] != BASELINE and score == best,
    )


def _seeds(counts: list[int]) -> str:
    most = max(counts, default=0)
    fewer = "" if min(counts, default=0) == most else f"{min(counts)} to "
    return f"{fewer}{counted(most, 'seed')}"

"""Whether a study reproduces published results: its scores against the values it expects."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from podium.analysis.estimates.confidence_intervals import says_how_sure, t_reach
from podium.analysis.scores.compared_runs import compared_protocol, trials_of
from podium.analysis.scores.final_scores import (
    CELL_COLUMNS,
    cells,
    final_scores,
    final_trials,
    validation_scores,
)
from podium.analysis.scores.protocol_runs import protocols_of
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.orchestrator.results.records.expected_values import Expected, ExpectedValue

_ROUNDING = 1e-9  # of a hyperparameter, relative to its value

Verdict = Literal["reproduced", "compatible", "differs", "not run", "impossible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One published value and ours, both scores in percent or both average ranks.

    Attributes:
        published: as printed.
        tolerance: largest difference that counts as reproduced.
        ours: mean over seeds and folds, or rank; None if the cell was not run, every run failed,
            or the loss is in no complete block.
        half_width: half-width of the 95 % t interval of our mean over seeds; None with one seed,
            and of ranks.
        num_seeds: number of seeds with a score.
        num_failed: number of final runs of the cell that failed.
        is_impossible: whether what is printed cannot be right (`Expected.impossible`).
    """

    published: float
    tolerance: float
    ours: float | None
    half_width: float | None = None
    num_seeds: int = 0
    num_failed: int = 0
    is_impossible: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus the published value; None if ours is missing or it is impossible."""
        if self.ours is None or self.is_impossible:
            return None
        return self.ours - self.published

    @property
    def verdict(self) -> Verdict:
        """``compatible``: beyond the tolerance, but not beyond it and our interval together."""
        if self.is_impossible:
            return "impossible"
        if self.difference is None:
            return "not run"
        # Without the last bits: 66.7 - 65.7 is 1.0000000000000142 in floats.
        gap = round(abs(self.difference), 9)
        if gap <= self.tolerance:
            return "reproduced"
        return "compatible" if gap <= self.tolerance + (self.half_width or 0.0) else "differs"


def compare_values(results: StudyResults, expected: Expected) -> tuple[Comparison, ...]:
    """Every published value in its order, beside the study's final test score of that cell.

    The interval is that of a mean over seeds by Student's t: seeds of one config on one split, so
    it covers other seeds, but no other splits or searches.
    """
    impossible = {*expected.impossible(results.objective)}
    known: dict[ExpectedValue, pl.DataFrame] = {}
    found = []
    for value in expected.values:
        asked = replace(value, block="", loss="", k=0, value=0.0, tolerance=0.0)
        if asked not in known:
            known[asked] = _cells(results, asked)
        cell = {name: getattr(value, name) for name in ("block", "loss", "k")}
        rows = known[asked].filter(finalist=value.finalist, **cell).to_dicts()
        found.append(_comparison(value, rows[0] if rows else {}, value in impossible))
    return tuple(found)


def compare_ranks(results: StudyResults, expected: Expected) -> dict[str, Comparison]:
    """Loss -> its published average rank beside that of the study's tournament, best first."""
    held = results.declared_tournament
    ours = {s.competitor: s.average_rank for s in held.standings} if held else {}
    tolerance = expected.rank_tolerance
    return {
        loss: Comparison(published=rank, tolerance=tolerance, ours=ours.get(loss))
        for loss, rank in sorted(expected.ranks.items(), key=lambda item: (item[1], item[0]))
    }


def _cells(results: StudyResults, asked: ExpectedValue) -> pl.DataFrame:
    """One row for each cell and K of the runs that a value is about; K is 0 without one."""
    runs, metric = _runs(results, asked), asked.metric or results.objective
    if asked.statistic == "validation":
        scores = validation_scores(runs, metric, results.ks)
    else:
        scores = final_scores(runs, results.reader.test_scores(), metric)
    if asked.fold:
        scores = scores.filter(pl.col("fold") == asked.fold - 1)
    found = cells(runs, scores)
    return _deviations(found, scores) if asked.statistic == "sd" else found


def _runs(results: StudyResults, asked: ExpectedValue) -> pl.DataFrame:
    """The finals, or the trials of searches of one config, whose repeats count as seeds."""
    # Of a protocol that is not named: the study's own, whichever the page was requested for.
    label = compared_protocol(protocols_of(results.study), asked.protocol or None).label
    trials = trials_of(results.trials, label)
    if not asked.config:
        finals = final_trials(trials.lazy(), asked.train_on or None)
        return finals.filter(pl.col("stage") == "final")
    columns = {f"hp.{name}": text for name, text in asked.hyperparameters.items()}
    is_known = columns.keys() <= set(trials.columns)
    return trials.filter(
        pl.col("stage") == "search",
        pl.col("state") != "PRUNED",  # such a trial was not tested
        *(_is_near(trials, name, text) for name, text in columns.items() if is_known),
        pl.lit(is_known),
    ).with_columns(pl.lit(asked.finalist).alias("finalist"), seed_index=pl.col("repeat"))


def _is_near(trials: pl.DataFrame, column: str, text: str) -> pl.Expr:
    """Whether a hyperparameter has the value that a text says, up to rounding of numbers."""
    if not trials[column].dtype.is_numeric():
        return pl.col(column).cast(pl.String) == text
    try:
        number = float(text)
    except ValueError:
        return pl.lit(False)
    return (pl.col(column) - number).abs() <= _ROUNDING * max(1.0, abs(number))


def _deviations(found: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The cells with the deviation over folds in place of the mean; seeds are averaged first."""
    keys = [*CELL_COLUMNS, "k"]
    folds = scores.group_by(*keys, "repeat", "fold").agg(pl.col("score").mean())
    deviations = folds.group_by(keys).agg(pl.col("score").std(ddof=1))
    of_none = pl.lit(None, pl.Float64).alias("seed_std")
    return found.drop("score").join(deviations, on=keys, how="left").with_columns(of_none)


def _comparison(value: ExpectedValue, cell: Mapping[str, Any], is_impossible: bool) -> Comparison:
    ours, seed_std, num_seeds = cell.get("score"), cell.get("seed_std"), cell.get("num_seeds", 0)
    half_width = None
    if seed_std is not None and says_how_sure(num_seeds, PERCENT * seed_std, PERCENT):
        half_width = t_reach(num_seeds - 1) * (PERCENT * seed_std) / math.sqrt(num_seeds)
    return Comparison(
        published=value.value,
        tolerance=value.tolerance,
        ours=None if ours is None else PERCENT * ours,
        half_width=half_width,
        num_seeds=num_seeds,
        num_failed=cell.get("num_failed", 0),
        is_impossible=is_impossible,
    )

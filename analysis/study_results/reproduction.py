"""Whether a study reproduces published results: its scores against the values it expects."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

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
    found = _found_cells(results, expected)
    impossible = {*expected.impossible(results.objective)}
    return tuple(
        _comparison(value, found.get(_key(value)), value in impossible)
        for value in expected.values
    )


def compare_ranks(results: StudyResults, expected: Expected) -> dict[str, Comparison]:
    """Loss -> its published average rank beside that of the study's tournament, best first."""
    held = results.declared_tournament
    ours = {s.competitor: s.average_rank for s in held.standings} if held else {}
    tolerance = expected.rank_tolerance
    return {
        loss: Comparison(published=rank, tolerance=tolerance, ours=ours.get(loss))
        for loss, rank in sorted(expected.ranks.items(), key=lambda item: (item[1], item[0]))
    }


def _key(value: ExpectedValue) -> tuple[object, ...]:
    cell = (value.block, value.loss, value.config or value.finalist, value.k)
    return (*_request(value), *cell)


def _request(value: ExpectedValue) -> tuple[str, str, str, str, int]:
    return value.protocol, value.train_on, value.metric, value.statistic, value.fold


def _found_cells(
    results: StudyResults, expected: Expected
) -> dict[tuple[object, ...], dict[str, object]]:
    """The cells of every protocol, training part, metric and config that a value names."""
    requested = {_request(it): it for it in expected.values if not it.config}
    of_finalists: dict[tuple[object, ...], dict[str, object]] = {
        (*request, row["block"], row["loss"], row["finalist"], row["k"]): row
        for request, value in requested.items()
        for row in _cells(_finals(results, value), results, value)
    }
    of_configs = {
        _key(value): row
        for value in expected.values
        if value.config and (row := _config_cell(results, value)) is not None
    }
    return {**of_finalists, **of_configs}


def _finals(results: StudyResults, value: ExpectedValue) -> pl.DataFrame:
    finals = final_trials(_trials_under(results, value.protocol).lazy(), value.train_on or None)
    return finals.filter(pl.col("stage") == "final")


def _config_cell(results: StudyResults, value: ExpectedValue) -> dict[str, object] | None:
    """The cell of one config of the searches, whose repeats count as seeds; None without one."""
    columns = {f"hp.{name}": text for name, text in value.hyperparameters.items()}
    trials = _trials_under(results, value.protocol)
    if not columns.keys() <= set(trials.columns):
        return None
    searched = trials.filter(
        pl.col("stage") == "search",
        pl.col("state") != "PRUNED",  # such a trial was not tested
        pl.col("block") == value.block,
        pl.col("loss") == value.loss,
        *(_is_near(trials, name, text) for name, text in columns.items()),
    ).with_columns(pl.lit(value.config).alias("finalist"), pl.col("repeat").alias("seed_index"))
    rows = _cells(searched, results, value)
    return next((row for row in rows if row["k"] == value.k), None)


def _is_near(trials: pl.DataFrame, column: str, text: str) -> pl.Expr:
    """Whether a hyperparameter has the value that a text says, up to rounding of numbers."""
    if not trials[column].dtype.is_numeric():
        return pl.col(column).cast(pl.String) == text
    try:
        number = float(text)
    except ValueError:
        return pl.lit(False)
    return (pl.col(column) - number).abs() <= _ROUNDING * max(1.0, abs(number))


def _trials_under(results: StudyResults, protocol: str) -> pl.DataFrame:
    # Of a protocol that is not named: the study's own, whichever the page was requested for.
    label = compared_protocol(protocols_of(results.study), protocol or None).label
    return trials_of(results.trials, label)


def _cells(
    runs: pl.DataFrame, results: StudyResults, value: ExpectedValue
) -> Iterator[dict[str, object]]:
    """One row for each cell and K of these trials, as the value asks; K is 0 without one."""
    metric = value.metric or results.objective
    if value.statistic == "validation":
        scores = validation_scores(runs, metric, results.ks)
    else:
        scores = final_scores(runs, results.reader.test_scores(), metric)
    if value.fold:
        scores = scores.filter(pl.col("fold") == value.fold - 1)
    found = cells(runs, scores)
    if value.statistic == "sd":
        found = _deviations(found, scores)
    yield from found.iter_rows(named=True)


def _deviations(found: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The cells with the deviation over folds in place of the mean; seeds are averaged first."""
    keys = [*CELL_COLUMNS, "k"]
    folds = scores.group_by(*keys, "repeat", "fold").agg(pl.col("score").mean())
    deviations = folds.group_by(keys).agg(pl.col("score").std(ddof=1))
    of_none = pl.lit(None, pl.Float64).alias("seed_std")
    return found.drop("score").join(deviations, on=keys, how="left").with_columns(of_none)


def _comparison(
    value: ExpectedValue, row: dict[str, object] | None, is_impossible: bool
) -> Comparison:
    ours, seed_std = (_percent(row, name) for name in ("score", "seed_std"))
    num_seeds, num_failed = (_count(row, name) for name in ("num_seeds", "num_failed"))
    half_width = None
    if seed_std is not None and says_how_sure(num_seeds, seed_std, PERCENT):
        half_width = t_reach(num_seeds - 1) * seed_std / math.sqrt(num_seeds)
    return Comparison(
        published=value.value,
        tolerance=value.tolerance,
        ours=ours,
        half_width=half_width,
        num_seeds=num_seeds,
        num_failed=num_failed,
        is_impossible=is_impossible,
    )


def _percent(row: dict[str, object] | None, name: str) -> float | None:
    share = None if row is None else row[name]
    return PERCENT * share if isinstance(share, float) else None


def _count(row: dict[str, object] | None, name: str) -> int:
    count = 0 if row is None else row[name]
    assert isinstance(count, int)
    return count

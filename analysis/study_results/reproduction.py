"""Whether a study reproduces published results: its scores against the values it expects."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import polars as pl

from analysis.estimates.confidence_intervals import t_reach
from analysis.scores.compared_runs import compared_protocol, trials_of
from analysis.scores.final_scores import cells, final_scores, final_trials
from analysis.scores.protocol_runs import protocols_of
from analysis.study_results.study_results import PERCENT, StudyResults
from orchestrator.results.records.expected_values import Expected, ExpectedValue

Verdict = Literal["reproduced", "compatible", "differs", "not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One published value and ours, in percent.

    Attributes:
        expected: the published value with its tolerance.
        ours: mean over seeds and folds; None if the cell was not run or every run failed.
        half_width: half-width of the 95 % t interval of our mean over seeds; None with one seed.
        num_seeds: number of seeds with a score.
        num_failed: number of final runs of the cell that failed.
    """

    expected: ExpectedValue
    ours: float | None
    half_width: float | None
    num_seeds: int
    num_failed: int

    @property
    def difference(self) -> float | None:
        """Ours minus the published value, in points; None if ours is missing."""
        return None if self.ours is None else self.ours - self.expected.value

    @property
    def verdict(self) -> Verdict:
        """``compatible``: beyond the tolerance, but not beyond it and our interval together."""
        if self.difference is None:
            return "not run"
        gap = _rounded(abs(self.difference))
        if gap <= self.expected.tolerance:
            return "reproduced"
        reach = self.expected.tolerance + (self.half_width or 0.0)
        return "compatible" if gap <= reach else "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankComparison:
    """A published average rank and ours.

    Attributes:
        loss: name of the loss.
        published: published average rank.
        ours: average rank in the study's tournament; None if the loss is in no complete block.
        tolerance: largest difference that counts as reproduced.
    """

    loss: str
    published: float
    ours: float | None
    tolerance: float

    @property
    def verdict(self) -> Verdict:
        """Never ``compatible``: ranks have no interval over seeds here."""
        if self.ours is None:
            return "not run"
        is_near = _rounded(abs(self.ours - self.published)) <= self.tolerance
        return "reproduced" if is_near else "differs"


def compare_values(results: StudyResults, expected: Expected) -> tuple[Comparison, ...]:
    """Every published value in its order, beside the study's final test score of that cell.

    The interval is that of a mean over seeds by Student's t: seeds of one config on one split, so
    it covers other seeds, but no other splits or searches.
    """
    found = _cells(results, expected)
    return tuple(_comparison(value, found.get(_key(value))) for value in expected.values)


def compare_ranks(results: StudyResults, expected: Expected) -> tuple[RankComparison, ...]:
    """Every published average rank beside that of the study's tournament, best first."""
    held = results.tournament
    ours = {s.competitor: s.average_rank for s in held.standings} if held else {}
    return tuple(
        RankComparison(
            loss=loss, published=rank, ours=ours.get(loss), tolerance=expected.rank_tolerance
        )
        for loss, rank in sorted(expected.ranks.items(), key=lambda item: (item[1], item[0]))
    )


def _key(value: ExpectedValue) -> tuple[object, ...]:
    requested = (value.protocol, value.train_on, value.block, value.loss, value.finalist)
    return (*requested, value.k)


def _cells(
    results: StudyResults, expected: Expected
) -> dict[tuple[object, ...], dict[str, object]]:
    """The cells of every protocol and training part that a value names."""
    requested = sorted({(value.protocol, value.train_on) for value in expected.values})
    return {
        (protocol, train_on, row["block"], row["loss"], row["finalist"], row["k"]): row
        for protocol, train_on in requested
        for row in _cells_of(results, protocol, train_on)
    }


def _cells_of(results: StudyResults, protocol: str, train_on: str) -> Iterator[dict[str, object]]:
    # Of a protocol that is not named: the study's own, whichever the page was requested for.
    label = compared_protocol(protocols_of(results.study), protocol or None).label
    trials = trials_of(results.trials, label)
    finals = final_trials(trials.lazy(), train_on or None)
    finals = finals.filter(pl.col("stage") == "final")
    scores = final_scores(finals, results.reader.test_scores(), results.objective)
    yield from cells(finals, scores).iter_rows(named=True)


def _comparison(value: ExpectedValue, row: dict[str, object] | None) -> Comparison:
    ours, seed_std = (_percent(row, name) for name in ("score", "seed_std"))
    num_seeds, num_failed = (_count(row, name) for name in ("num_seeds", "num_failed"))
    half_width = None
    if seed_std is not None and num_seeds > 1:
        t = t_reach(num_seeds - 1)
        half_width = t * seed_std / math.sqrt(num_seeds)
    return Comparison(
        expected=value,
        ours=ours,
        half_width=half_width,
        num_seeds=num_seeds,
        num_failed=num_failed,
    )


def _percent(row: dict[str, object] | None, name: str) -> float | None:
    share = None if row is None else row[name]
    return PERCENT * share if isinstance(share, float) else None


def _count(row: dict[str, object] | None, name: str) -> int:
    count = 0 if row is None else row[name]
    assert isinstance(count, int)
    return count


def _rounded(gap: float) -> float:
    """Without the last bits: 66.7 - 65.7 is 1.0000000000000142 in floats."""
    return round(gap, 9)

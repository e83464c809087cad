"""Quality of model selection by each protocol, over all its searches."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from podium.analysis.estimates.wilson_interval import wilson_interval
from podium.analysis.hypothesis_tests.group_means import (
    group_means,
    paired_differences,
)
from podium.analysis.protocols.selection_candidates import (
    Candidates,
    config_candidates,
)
from podium.analysis.protocols.selection_measures import CEILINGS, CHOICE_MEASURES, choice_cells
from podium.analysis.protocols.selection_regret import mean_regret

_MEANS = tuple(measure for measure in CHOICE_MEASURES if measure != "top_1")
_ON_SCALE = ("picked_test", "tau")
_ON_OWN = ("regret", "tau")  # the levels of own runs differ with what they were trained on
_LEAST_SHARE = 0.5  # of candidates that have the test runs of the pick


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionQuality:
    """Quality of picks, scored by one set of test runs.

    Attributes:
        means: as ``group_means``, of each protocol ``picked_test``, ``regret``, ``tau``,
            ``overtuning``, ``ceiling`` and ``at_ceiling``. The interval of regret over repeats is
            that of its bootstrap.
        differences: as ``paired_differences``, of ``tau``, and of ``picked_test`` on one scale,
            of ``regret`` on own runs.
        pick_rates: ``protocol``, ``rate``, its Wilson interval ``low`` to ``high``,
            ``num_searches`` and ``chance``: how often a random pick would be the best.
        searches: the cells, one row per search.
    """

    means: pl.DataFrame
    differences: pl.DataFrame
    pick_rates: pl.DataFrame
    searches: pl.DataFrame


def selection_quality(
    runs: pl.DataFrame,
    *,
    order: Sequence[str],
    tested: pl.DataFrame | None = None,
) -> SelectionQuality | None:
    """All statistics of picks, each scored by test runs other than its own; None without any.

    Args:
        runs: search runs.
        order: labels of the protocols, in the order in which pairs name them.
        tested: test runs to score picks by, as in ``config_candidates``; None means those of
            ``runs``.
    """
    candidate_sets = tuple(map(_with_enough_tests, config_candidates(runs, tested=tested)))
    cells = choice_cells(candidate_sets)
    searches = cells[None]
    if searches["picked_test"].null_count() == len(searches):
        return None
    means = group_means(cells, (*_MEANS, *CEILINGS))
    return SelectionQuality(
        means=_with_bootstrap(means, candidate_sets),
        differences=paired_differences(
            cells, _ON_OWN if tested is None else _ON_SCALE, order=order
        ),
        pick_rates=_pick_rates(searches),
        searches=searches,
    )


def _with_enough_tests(candidates: Candidates) -> Candidates:
    """The candidates, without test runs that hold the pick and fewer than half of the others.

    This happens where repeats tried configs of their own and share only the published default:
    searches that picked the default say nothing about the others.
    """
    _, kept_C = candidates.compared()
    is_enough = kept_C.mean() >= _LEAST_SHARE
    return candidates if is_enough else candidates.with_runs(candidates.is_own_E)


def _with_bootstrap(means: pl.DataFrame, candidate_sets: Sequence[Candidates]) -> pl.DataFrame:
    """The means with bootstrap intervals of regret in place of those of the jackknife.

    They resample repeats and test runs, and cover the true regret more often where most searches
    pick the same.
    """
    of_protocol: dict[str, list[Candidates]] = {}
    for candidates in candidate_sets:
        of_protocol.setdefault(candidates.place[-1], []).append(candidates)
    regrets = {protocol: mean_regret(found) for protocol, found in of_protocol.items()}
    ends = {
        name: pl.col("protocol").replace_strict(
            {protocol: regret[name] for protocol, regret in regrets.items()},
            return_dtype=pl.Float64,
        )
        for name in ("low", "high", "standard_error")
    }
    is_regret = pl.col("measure") == "regret"
    return means.with_columns(
        pl.when(is_regret).then(end).otherwise(pl.col(name)).alias(name)
        for name, end in ends.items()
    )


def _pick_rates(cells: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for (protocol,), group in cells.drop_nulls("top_1").group_by("protocol", maintain_order=True):
        found = wilson_interval(float(group["top_1"].sum()), len(group))
        rows.append(
            {
                "protocol": protocol,
                "rate": found.estimate,
                "low": found.low,
                "high": found.high,
                "num_searches": len(group),
                "chance": float((1 / group["num_configs"].to_numpy()).mean()),
            }
        )
    schema = {
        "protocol": pl.String,
        **dict.fromkeys(("rate", "low", "high"), pl.Float64),
        "num_searches": pl.Int64,
        "chance": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema).sort("protocol")

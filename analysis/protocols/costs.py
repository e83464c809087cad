"""Compute cost of each protocol, and the Pareto front of cost and regret."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.protocols.selection_quality import SelectionQuality
from analysis.protocols.study_frames import StudyFrames
from analysis.scores.gpu_shares import gpus_per_trial
from analysis.scores.protocol_runs import Protocol, attempt_table
from analysis.selection.protocol_cost import cost_front, protocol_cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What the protocols of a study cost.

    Attributes:
        by_protocol: hours of each protocol as if it had been run alone, so with its copies: the
            columns of ``protocol_cost``; ``num_searches`` and ``hours_per_search``, of the search
            alone: the finals retrain what was picked, over as many seeds as the study wants;
            ``regret``; and ``on_front``, by these two (null without a regret, and if it leaks).
        spent_hours: hours of all attempts that were made, copies counted once.
        num_copies: number of final trials that were trained for another search and copied.
    """

    by_protocol: pl.DataFrame
    spent_hours: float
    num_copies: int


def study_costs(
    frames: StudyFrames,
    trials: pl.DataFrame,
    picked: SelectionQuality | None,
    protocols: Sequence[Protocol],
) -> Costs:
    """Costs of a study's protocols.

    Args:
        frames: frames of the study.
        trials: trials of the study, one row each.
        picked: quality of the picks, of which regrets are; None if it is not known.
        protocols: protocols of the study. The regret of those that leak cannot be attained, so
            they are neither on the front nor dominate others.
    """
    gpus = gpus_per_trial(frames.study)
    made = trials.filter(pl.col("same_as").is_null())
    spent = attempt_table(made, frames.attempts, gpus_per_trial=gpus)["gpu_seconds"].sum()
    attempts = attempt_table(trials, frames.attempts, gpus_per_trial=gpus)
    leaking = [protocol.label for protocol in protocols if protocol.leaks]
    return Costs(
        by_protocol=_by_protocol(attempts, trials, _regrets(picked), leaking=leaking),
        spent_hours=float(spent) / 3600,
        num_copies=len(trials) - len(made),
    )


def _regrets(picked: SelectionQuality | None) -> dict[str, float | None]:
    if picked is None:
        return {}
    found = picked.means.filter(pl.col("measure") == "regret", pl.col("mean").is_not_null())
    if found["num_cells"].n_unique() > 1:
        return {}  # of unlike searches, so no front
    return dict(found.select("protocol", "mean").iter_rows())


def _by_protocol(
    attempts: pl.DataFrame,
    trials: pl.DataFrame,
    regrets: Mapping[str, float | None],
    *,
    leaking: Collection[str],
) -> pl.DataFrame:
    searches = (
        trials.filter(pl.col("stage") == "search")
        .group_by("protocol")
        .agg(pl.col("search").n_unique().cast(pl.Int64).alias("num_searches"))
    )
    found = protocol_cost(attempts).join(
        searches, on="protocol", how="left", maintain_order="left"
    )
    known = pl.col("protocol").replace_strict(dict(regrets), default=None, return_dtype=pl.Float64)
    per_search = pl.col("search_hours") / pl.col("num_searches")
    rows = found.with_columns(per_search.alias("hours_per_search"), known.alias("regret"))
    is_offered = ~pl.col("protocol").is_in(list(leaking))
    offered = pl.when(is_offered).then(pl.col("regret")).alias("offered")
    front = cost_front(rows.with_columns(offered), cost="hours_per_search", regret="offered")
    return front.drop("offered")

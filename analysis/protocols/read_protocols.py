"""From a results store to the statistics of its validation protocols."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.hypothesis_tests.group_means import group_means, paired_differences
from analysis.protocols.costs import best_of_trials, protocol_costs
from analysis.protocols.default_tuned_refit import CONDITIONS, GAINS, FinalCells, final_cells
from analysis.protocols.optimism_by_protocol import (
    fresh_runs,
    optimism_over_classes,
    optimism_over_runs,
)
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.scoring_runs import is_recorded, scoring_runs
from analysis.protocols.selection_quality import SelectionQuality, loss_selection_regret
from analysis.scores.cached_reader import CachedReader
from analysis.scores.gpu_shares import gpus_per_trial, has_gpus
from analysis.scores.protocol_runs import (
    Protocol,
    attempt_table,
    final_runs,
    protocols_of,
    search_class_hits,
    search_runs,
    test_readings,
)
from orchestrator.results.errors import PodiumError
from orchestrator.results.records.asks import Ask, read_asks
from orchestrator.results.records.metric_columns import RECALL, metric_label
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader

__all__ = ["StudyFrames", "drawn_trials", "protocol_study", "read_protocols"]

_HEAVY = ("traceback", "log", "settings", "message")
_ONE_PROTOCOL = "there is one protocol, and nothing to compare it with"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFrames:
    """Frames of a study's results, as the reader of its folder returns them.

    Attributes:
        study: the resolved study.
        trials: one row a trial, flat columns.
        drawn: ``search`` and ``trial_id`` of the trials that samplers drew, so neither the
            published default nor a config that was given.
        scores: long frame of validation scores.
        class_hits: long frame of hits of the validation classes.
        test_scores: long frame of test scores.
        attempts: one row an attempt.
        metric: name of the objective.
        k: value of K of the objective.
    """

    study: Mapping[str, Any]
    trials: pl.DataFrame
    drawn: pl.DataFrame
    scores: pl.LazyFrame
    class_hits: pl.LazyFrame
    test_scores: pl.LazyFrame
    attempts: pl.LazyFrame
    metric: str
    k: int


def read_protocols(folder: Place, k: int | None = None) -> ProtocolStudy:
    """The statistics of a results folder, finished or not.

    Args:
        folder: results folder of the study.
        k: value of K of the objective; None means the study's first.

    Raises:
        PodiumError: the folder holds no results, there is no such K, or no trial of a search has
            ended yet.
    """
    study = Reader(folder).study()
    ks = study["ks"]
    if k is not None and k not in ks:
        raise PodiumError(f"--k must be one of {', '.join(map(str, ks))}; got {k}")
    reader = CachedReader(folder, k=ks[0] if k is None else k)
    return protocol_study(
        StudyFrames(
            study=study,
            trials=reader.trials().drop(_HEAVY, strict=False).collect(),
            drawn=drawn_trials(read_asks(StudyPaths(folder))),
            scores=reader.validation_scores(),
            class_hits=reader.validation_hits(),
            test_scores=reader.test_scores(),
            attempts=reader.attempts(),
            metric=reader.objective,
            k=ks[0] if k is None else k,
        )
    )


def drawn_trials(asks: Mapping[str, Sequence[Ask]]) -> pl.DataFrame:
    """``search`` and ``trial_id`` of the trials that samplers drew, in no order.

    Args:
        asks: search -> suggestions that were requested for it, from ``read_asks``.
    """
    rows = [
        (search, ask.trial_id)
        for search, of_search in asks.items()
        for ask in of_search
        if ask.source == "sampler"
    ]
    schema = {"search": pl.String, "trial_id": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").unique()


def protocol_study(frames: StudyFrames) -> ProtocolStudy:
    """The statistics of a store's frames, in whatever order their rows come.

    Raises:
        PodiumError: no trial of a search has ended yet.
    """
    trials = frames.trials.sort("trial_id", "search")
    metric, k = frames.metric, frames.k
    runs = search_runs(trials, frames.scores, frames.test_scores, metric=metric, k=k)
    if runs.is_empty():
        raise PodiumError("this study has no ended trial of a search yet")
    protocols = protocols_of(frames.study)
    choices = scoring_runs(
        runs, protocols, shared_configs=bool(frames.study["search"]["shared_configs"])
    )
    finals = final_cells(trials, frames.test_scores, metric=metric, k=k)
    parts, refits = (
        final_runs(trials, frames.scores, frames.test_scores, metric=metric, k=k, train_on=on)
        for on in ("part", "all")
    )
    losses = loss_selection_regret(runs, refits if parts.is_empty() else parts)
    optimism = _optimism(frames, trials, runs, parts)
    curve, no_curve = _best_of_trials(frames, trials)
    gpus = gpus_per_trial(frames.study)
    attempts = attempt_table(trials, frames.attempts, gpus_per_trial=gpus)
    made = trials.filter(pl.col("same_as").is_null())
    measures = (*CONDITIONS, *GAINS)
    return ProtocolStudy(
        name=frames.study["name"],
        metric=metric_label(metric, k),
        k=k,
        protocols=protocols,
        is_recorded=is_recorded(runs),
        same_splits=frames.study["search"]["splits"] == "same",
        has_gpus=has_gpus(frames.study),
        num_blocks=runs["block"].n_unique(),
        num_losses=runs["loss"].n_unique(),
        num_repeats=runs["repeat"].n_unique(),
        num_configs=_most_configs(runs),
        runs=runs,
        finals=group_means(finals.cells, measures),
        finals_by_loss=group_means(finals.cells, measures, by=("protocol", "loss")),
        final_differences=paired_differences(
            finals.cells,
            tuple(CONDITIONS),
            order=[protocol.label for protocol in protocols],
            by_blocks=finals.unit == "seeds",
        ),
        unit=finals.unit,
        num_kept=finals.num_kept,
        num_missing=finals.num_missing,
        scale=choices.scale,
        own=choices.own,
        configs=choices.configs,
        same_run=choices.same_run,
        losses=losses,
        optimism_over_classes=optimism.of_classes,
        optimism_over_runs=optimism.of_runs,
        costs=protocol_costs(
            attempts,
            trials,
            _regrets(choices.scale or choices.own),
            leaking=[protocol.label for protocol in protocols if protocol.leaks],
        ),
        spent_hours=_hours(attempt_table(made, frames.attempts, gpus_per_trial=gpus)),
        best_of_trials=curve,
        readings=test_readings(trials),
        num_copies=len(trials) - len(made),
        reasons={
            **choices.reasons,
            **optimism.reasons,
            **no_curve,
            **_further_reasons(protocols, finals, losses),
        },
    )


def _one_split(trials: pl.DataFrame) -> list[str]:
    """Labels of the protocols under which all searches of a block have one split."""
    searched = trials.filter(pl.col("stage") == "search")
    splits = searched.group_by("block", "protocol").agg(pl.col("split_hash").n_unique())
    most = splits.group_by("protocol").agg(pl.col("split_hash").max())
    return most.filter(pl.col("split_hash") == 1)["protocol"].sort().to_list()


def _most_configs(runs: pl.DataFrame) -> int:
    counts = runs.group_by("block", "loss", "protocol", "repeat").agg(pl.col("config").n_unique())
    return int(str(counts["config"].max()))


def _regrets(picked: SelectionQuality | None) -> dict[str, float | None]:
    if picked is None:
        return {}
    found = picked.means.filter(pl.col("measure") == "regret", pl.col("mean").is_not_null())
    if found["num_cells"].n_unique() > 1:
        return {}  # of unlike searches, so no front
    return dict(found.select("protocol", "mean").iter_rows())


def _hours(attempts: pl.DataFrame) -> float:
    return float(attempts["gpu_seconds"].sum()) / 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class _Optimism:
    of_classes: pl.DataFrame
    of_runs: pl.DataFrame
    reasons: dict[str, str]


def _optimism(
    frames: StudyFrames, trials: pl.DataFrame, runs: pl.DataFrame, parts: pl.DataFrame
) -> _Optimism:
    hits = search_class_hits(trials, frames.class_hits, k=frames.k)
    is_primary = frames.k == frames.study["ks"][0]
    one_split = _one_split(trials)
    of_classes = optimism_over_classes(hits if is_primary else hits.clear(), one_split=one_split)
    of_runs = optimism_over_runs(runs, fresh_runs(trials, parts), one_split=one_split)
    reasons = {}
    if of_classes.is_empty() and frames.metric != RECALL.name:
        reasons["optimism_over_classes"] = "labels are continuous, so classes have no hits"
    elif of_classes.is_empty() and not is_primary:
        reasons["optimism_over_classes"] = "hits of every epoch are stored for the first K only"
    elif of_classes.is_empty():
        reasons["optimism_over_classes"] = "no search validated on two classes"
    if of_runs["mean"].null_count() == len(of_runs):
        reasons["optimism_over_runs"] = (
            "no pick was validated again on its classes: finals have another split"
            " (final.protocol), or repeats have"
        )
    return _Optimism(of_classes=of_classes, of_runs=of_runs, reasons=reasons)


def _best_of_trials(
    frames: StudyFrames, trials: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, str]]:
    searched = trials.filter(pl.col("stage") == "search", ~pl.col("is_default"))
    drawn = searched.join(frames.drawn, on=["search", "trial_id"], how="semi")
    runs = search_runs(drawn, frames.scores, frames.test_scores, metric=frames.metric, k=frames.k)
    curve, reasons = best_of_trials(runs, frames.study["search"])
    return curve, {"best_of_trials": next(iter(reasons.values()))} if reasons else {}


def _further_reasons(
    protocols: Sequence[Protocol], finals: FinalCells, losses: pl.DataFrame
) -> dict[str, str]:
    found = {}
    if len(protocols) < 2:
        found["final_differences"] = _ONE_PROTOCOL
    if finals.cells.whole.is_empty():
        found["finals"] = "no final trial has been tested yet"
    elif finals.cells.whole["classes"].null_count() == len(finals.cells.whole):
        found["finals"] = (
            "the gain of the training classes needs finals on a part and on all of them"
            " (final.train_on: [part, all])"
        )
    if losses.is_empty():
        found["losses"] = "choosing a loss needs two of them, and tested finals"
    return found

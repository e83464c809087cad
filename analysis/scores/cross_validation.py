"""The cross-validation statistics of a study's final stage."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from podium.analysis.estimates.confidence_intervals import FEWEST_VALUES
from podium.analysis.hypothesis_tests.corrected_resampled_t import FOLD_STD_MEANING, level_at
from podium.analysis.scores.class_intervals import class_intervals
from podium.analysis.scores.epoch_optimism import epoch_optimism
from podium.analysis.scores.final_scores import CELL_COLUMNS, final_scores, final_trials
from podium.analysis.scores.fold_tables import (
    cross_validation_pairs,
    cross_validation_table,
    fold_table,
)
from podium.analysis.scores.protocol_runs import chosen_k, protocols_of
from podium.orchestrator.results.records.metric_columns import RankedScore, metric_label
from podium.orchestrator.results.records.tournament_rules import rules_of
from podium.orchestrator.results.trial_files.reader import Reader

_PERCENT = 100
_PAIR_MEANING = (
    "Pairs: corrected resampled t test over the same folds (Nadeau and Bengio 2003), Holm within "
    "the block, winners only; differences a - b in points. It is meant for validation scores; on "
    "one fixed test set it is a heuristic. Fewer than three folds have no test, nor have "
    "differences without scatter."
)
_VAL_MEANING = (
    "val: each fold at its own best epoch, too high by what the choice of the epoch gains. Test "
    "scores are of that epoch, and chose nothing."
)
_OPTIMISM_MEANING = (
    "opt: by how much, in points: val minus the fold's score at the epoch that is best on the "
    "mean of the other folds. It also holds what a fold loses at the epoch of the others, and "
    "their choice has noise of its own: it says how large the effect is, and corrects no score."
)
_LEVEL, _CORRELATED = 0.05, 0.5  # of the test, and where it is shown to fail
CLASS_MEANING = (
    "se: standard error of the mean if the test classes had been others (bootstrap over classes)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """Statistics over the class-disjoint folds of a final stage. Scores are from 0 to 1.

    Attributes:
        k: value of K; 0 of a metric without K.
        metric: label of the score.
        titles: label of a protocol -> by which protocol its finals were tuned and split.
        folds: from ``fold_table``.
        cells: from ``cross_validation_table``, with ``class_standard_error``, ``leaks``, and
            ``epoch_optimism`` and ``no_epoch_optimism`` from `epoch_optimism`.
        pairs: from ``cross_validation_pairs``.
        rope: half-width of the region of practical equivalence.
        notes: what the standard deviation, the pairs, validation scores and the region mean.
    """

    k: int
    metric: str
    titles: Mapping[str, str]
    folds: pl.DataFrame
    cells: pl.DataFrame
    pairs: pl.DataFrame
    rope: float
    notes: tuple[str, ...]


def cross_validation(
    reader: Reader, k: int | None = None, score: RankedScore | None = None
) -> CrossValidation:
    """Statistics of a results folder.

    Args:
        reader: reader of the folder.
        k: value of K of the study's own metric; None means its first.
        score: score to use instead, from `analysis.scores.ranked_score.chosen_score`.

    Raises:
        PodiumError: there is no such K, or the final stage has no trials of several folds.
    """
    study = reader.study()
    metric, chosen = score or RankedScore(reader.objective, chosen_k(study, k))
    finals = final_trials(reader.trials())
    folds = fold_table(finals, final_scores(finals, reader.test_scores(), metric), chosen, metric)
    errors = class_intervals(finals, reader.test_class_hits(), chosen).select(
        *CELL_COLUMNS, pl.col("standard_error").alias("class_standard_error")
    )
    gaps = epoch_optimism(
        finals, reader.scores(), metric=metric, k=chosen, primary_k=chosen_k(study, None)
    )
    is_validated = metric == reader.objective
    cells = (
        cross_validation_table(folds)
        .join(errors, on=list(CELL_COLUMNS), how="left")
        .join(gaps, on=list(CELL_COLUMNS), how="left")
    )
    protocols = {protocol.label: protocol for protocol in protocols_of(study)}
    leaking = [label for label, protocol in protocols.items() if protocol.leaks]
    parted = finals.filter(pl.col("num_folds") > 1).select("protocol", "split_protocol")
    rope, why = region_of_equivalence(rules_of(study).rope_points, folds)
    return CrossValidation(
        k=chosen,
        metric=metric_label(metric, chosen),
        titles={
            label: f"tuned by {protocols[label].shown}, folds of {kind}"
            for label, kind in parted.unique().sort("protocol", "split_protocol").iter_rows()
        },
        folds=folds,
        cells=cells.with_columns(pl.col("protocol").is_in(leaking).alias("leaks")),
        pairs=cross_validation_pairs(folds, rope=rope),
        rope=rope,
        notes=(
            FOLD_STD_MEANING,
            f"{_PAIR_MEANING}{_assumption(folds)}",
            f"{_VAL_MEANING} {_optimism_note(cells)}"
            if is_validated
            else f"val: {metric_label(metric, chosen)} is measured on test classes only.",
            "% a/=/b: probability that a is better, that the two are practically equivalent and "
            "that b is better, by the same t with a flat prior (Corani and Benavoli 2015); "
            f"equivalent is within {_PERCENT * rope:.2g} points: {why}.",
        ),
    )


def _optimism_note(cells: pl.DataFrame) -> str:
    """What the optimism of validation scores means, and where it is not known."""
    unknown = cells["no_epoch_optimism"].drop_nulls().unique().sort()
    reasons = f"{' or '.join(unknown)}."
    if cells["epoch_optimism"].is_null().all():
        return f"By how much is not known: {reasons}"
    return (
        f"{_OPTIMISM_MEANING} Where it is missing, {reasons}"
        if len(unknown)
        else _OPTIMISM_MEANING
    )


def _assumption(folds: pl.DataFrame) -> str:
    """The correlation that the corrected t takes for granted, and its level at another.

    Of the first design with a test, where finals were split in several ways; empty without one.
    """
    designs = folds.filter(pl.col("num_folds") >= FEWEST_VALUES).select("num_folds", "num_parts")
    if designs.is_empty():
        return ""
    num_folds, num_parts = designs.unique().sort(pl.all()).row(0)
    ratio = 1 / (num_parts - 1)
    level = level_at(_CORRELATED, num_folds=num_folds, held_out_ratio=ratio, alpha=_LEVEL)
    return (
        f" Its variance assumes that differences of two folds correlate by 1/{num_parts}; were it "
        f"{_CORRELATED:g}, equal losses would differ at {_LEVEL:g} in {_PERCENT * level:.0f} % of "
        "studies."
    )


def region_of_equivalence(declared_points: float | None, folds: pl.DataFrame) -> tuple[float, str]:
    """Half-width of the region of practical equivalence, 0 to 1, and where it is from."""
    if declared_points is not None:
        return declared_points / _PERCENT, "as the study declared"
    winners = folds.filter(pl.col("finalist") == "winner")  # which may be the default too
    around = pl.col("test") - pl.col("test").mean().over(CELL_COLUMNS)
    squares, freedom = winners.select(
        (around**2).sum(), pl.len() - pl.struct(CELL_COLUMNS).n_unique()
    ).row(0)
    if not freedom:
        return 0.0, "no standard deviation of winners over folds is known"
    return math.sqrt(squares / freedom), "the standard deviation of winners over folds"

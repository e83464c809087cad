"""The cross-validation statistics of a study's final stage."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from podium.analysis.hypothesis_tests.corrected_resampled_t import FOLD_STD_MEANING
from podium.analysis.scores.class_intervals import class_intervals
from podium.analysis.scores.final_scores import CELL_COLUMNS, final_scores, final_trials
from podium.analysis.scores.fold_tables import (
    cross_validation_pairs,
    cross_validation_table,
    fold_table,
)
from podium.analysis.scores.protocol_runs import chosen_k, protocols_of
from podium.orchestrator.results.records.metric_columns import RankedScore, metric_label
from podium.orchestrator.results.trial_files.reader import Reader

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
        cells: from ``cross_validation_table``, with ``class_standard_error`` and ``leaks``.
        pairs: from ``cross_validation_pairs``.
        notes: what the standard deviation, the pairs and validation scores mean.
    """

    k: int
    metric: str
    titles: Mapping[str, str]
    folds: pl.DataFrame
    cells: pl.DataFrame
    pairs: pl.DataFrame
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
    is_validated = metric == reader.objective
    cells = cross_validation_table(folds).join(errors, on=list(CELL_COLUMNS), how="left")
    protocols = {protocol.label: protocol for protocol in protocols_of(study)}
    leaking = [label for label, protocol in protocols.items() if protocol.leaks]
    parted = finals.filter(pl.col("num_folds") > 1).select("protocol", "split_protocol")
    return CrossValidation(
        k=chosen,
        metric=metric_label(metric, chosen),
        titles={
            label: f"folds of {kind}"
            if (shown := protocols[label].shown) == kind
            else f"tuned by {shown}, folds of {kind}"
            for label, kind in parted.unique().sort("protocol", "split_protocol").iter_rows()
        },
        folds=folds,
        cells=cells.with_columns(pl.col("protocol").is_in(leaking).alias("leaks")),
        pairs=cross_validation_pairs(folds),
        notes=(
            FOLD_STD_MEANING,
            _PAIR_MEANING,
            _VAL_MEANING
            if is_validated
            else f"val: {metric_label(metric, chosen)} is measured on test classes only.",
        ),
    )

"""By how much validation scores at each fold's own best epoch are too high.

E epochs, F folds.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.scores.final_scores import CELL_COLUMNS
from podium.analysis.scores.fold_tables import num_parts

_RUN = (*CELL_COLUMNS, "repeat", "seed_index", "repetition")
_NO_SCORES = "no validation scores by epoch are stored"
_ONE_FOLD = "one fold has validation scores"
_ONE_EPOCH = "validation scores are of one epoch"


def epoch_optimism(
    finals: pl.DataFrame, scores: pl.LazyFrame, *, metric: str, k: int, primary_k: int
) -> pl.DataFrame:
    """Best-epoch score minus the score at the epoch chosen by the other folds, of each cell.

    `gaps_to_epoch_of_others` of every run, a mean over folds and seeds. Folds of one repetition of
    a split choose for each other: those of another one validate on the same classes. Epochs are
    those at which every fold of a run was validated.

    Args:
        finals: final trials, from ``analysis.scores.final_scores.final_trials``.
        scores: long frame of the store, from ``Reader.scores``.
        metric: metric of the study.
        k: K of the scores.
        primary_k: K by which epochs are chosen.

    Returns:
        A row for each cell of several folds: ``CELL_COLUMNS``; ``epoch_optimism``, from 0 to 1 as
        the scores, null where it is not known; ``no_epoch_optimism``, why not, else null.
    """
    curves = _curves(finals, scores, metric, k, primary_k)
    rows = []
    for cell, runs in curves.group_by(CELL_COLUMNS, maintain_order=True):
        found = [_gaps_of_run(run) for _, run in runs.group_by(_RUN, maintain_order=True)]
        gaps = [gap for one in found if not isinstance(one, str) for gap in one.tolist()]
        why_not = [one for one in found if isinstance(one, str)]
        rows.append((*cell, float(np.mean(gaps)) if gaps else None, None if gaps else why_not[0]))
    schema = {
        **{name: curves.schema[name] for name in CELL_COLUMNS},
        "epoch_optimism": pl.Float64(),
        "no_epoch_optimism": pl.String(),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def gaps_to_epoch_of_others(
    choosing_EF: NDArray[np.float64], scores_EF: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of each fold, its score at its own best epoch minus that at the best epoch of the others.

    The epoch of the others is that of their highest mean, the earliest on ties: a choice in which
    no query of the fold took part, so that its score there is not flattered by it. This is the
    bias estimate of Tibshirani and Tibshirani 2009, but for the fold itself, which theirs leaves
    in the mean. The gap also holds what the fold loses because the networks of other folds peak
    elsewhere, and what it gains because a mean of folds chooses by less noise than one fold. It is
    no correction of a single score.

    Args:
        choosing_EF: finite scores that epochs are chosen by; at least two folds.
        scores_EF: scores to compare, of the same epochs and folds. The gaps are at least 0 if they
            are those that epochs are chosen by.
    """
    num_folds = choosing_EF.shape[1]
    own_F = choosing_EF.argmax(axis=0)
    others_F = [
        np.delete(choosing_EF, fold, axis=1).mean(axis=1).argmax() for fold in range(num_folds)
    ]
    folds_F = np.arange(num_folds)
    gaps_F: NDArray[np.float64] = scores_EF[own_F, folds_F] - scores_EF[others_F, folds_F]
    return gaps_F


def _curves(
    finals: pl.DataFrame, scores: pl.LazyFrame, metric: str, k: int, primary_k: int
) -> pl.DataFrame:
    """A row for each run, fold and epoch: ``choosing`` (at the primary K) and ``score`` (at K).

    A fold without scores has one row, in which epoch and scores are null.
    """
    repetition = (pl.col("fold") // num_parts()).alias("repetition")
    folds = finals.filter(pl.col("num_folds") > 1).select(
        *CELL_COLUMNS, "repeat", "seed_index", repetition, "fold", "trial_id"
    )
    of_folds = scores.filter(
        pl.col("trial_id").is_in(folds["trial_id"].unique().implode()),
        pl.col("role") == "val",
        pl.col("metric") == metric,
    )
    values = of_folds.select("trial_id", "epoch", "k", pl.col("value").fill_nan(None)).collect()
    at_k = [
        values.filter(pl.col("k") == one).select("trial_id", "epoch", pl.col("value").alias(name))
        for one, name in ((primary_k, "choosing"), (k, "score"))
    ]
    both = at_k[0].join(at_k[1], on=["trial_id", "epoch"]).drop_nulls()
    return folds.join(both, on="trial_id", how="left").sort(*_RUN, "fold", "epoch")


def _gaps_of_run(run: pl.DataFrame) -> NDArray[np.float64] | str:
    """The gaps of the folds of one repetition, or why there are none."""
    known = run.drop_nulls("score")
    num_folds = known["fold"].n_unique()
    if num_folds < 2:
        return _ONE_FOLD if num_folds else _NO_SCORES
    common = known.filter(pl.len().over("epoch") == num_folds)
    if common["epoch"].n_unique() < 2:
        return _ONE_EPOCH
    by_epoch = common.sort("epoch", "fold")
    choosing_EF, scores_EF = (
        by_epoch[name].to_numpy().reshape(-1, num_folds) for name in ("choosing", "score")
    )
    return gaps_to_epoch_of_others(choosing_EF, scores_EF)

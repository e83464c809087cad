"""Cross-validation tables of a study: folds, cells, and pairs of losses."""

import math
from itertools import combinations

import polars as pl

from podium.analysis.estimates.confidence_intervals import FEWEST_VALUES, Interval
from podium.analysis.estimates.kendall_tau import kendall_tau
from podium.analysis.hypothesis_tests.corrected_resampled_t import (
    corrected_resampled_t,
    fold_statistics,
)
from podium.analysis.hypothesis_tests.pairwise_comparisons import holm
from podium.analysis.scores.final_scores import CELL_COLUMNS, FEATURES
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import score_column

_NONE = pl.lit(None, pl.Float64)
_PAIRS = {
    **dict.fromkeys(("block", "finalist", "protocol", "a", "b"), pl.String),
    **dict.fromkeys(("mean_difference", "low", "high", "p_value", "p_holm"), pl.Float64),
}


def fold_table(
    finals: pl.DataFrame, scores: pl.DataFrame, k: int, metric: str = "recall"
) -> pl.DataFrame:
    """One row per cell and fold: ``val`` (best validation) and ``test`` score at k, 0 to 1.

    ``epoch`` is the one of both. Seeds and repeats are averaged within a fold; ``num_seeds`` says
    how many there were. Where repeats have splits of their own, the folds of each are folds of
    their own too. Of ``num_folds`` folds each holds out one of ``num_parts`` parts of the classes:
    they are equal unless the classes are split several times. No fold changes features: they have
    one row, of one fold.
    ``val`` is null of a metric of test classes only.

    Raises:
        PodiumError: the final stage has no trials of several folds, or none was tested yet.
    """
    kfold = finals.filter(pl.col("num_folds") > 1)
    if kfold.is_empty():
        kinds = ", ".join(finals["split_protocol"].unique().sort()) or "no final trials"
        raise PodiumError(
            "cross-validation needs a final stage of several folds, such as "
            f"`final: {{protocol: {{kind: kfold, folds: 10}}}}`; this study holds {kinds}"
        )
    of_all_folds = finals.filter(pl.col("finalist") == FEATURES)
    of_all_folds = of_all_folds.join(kfold, on=["block", "protocol"], how="semi")
    validation = pl.concat([kfold, of_all_folds]).select(
        *CELL_COLUMNS,
        "trial_id",
        "num_folds",
        num_parts().alias("num_parts"),
        (pl.col(column) if (column := score_column(metric, k)) in kfold.columns else _NONE).alias(
            "val"
        ),
        pl.col("epoch_selected").alias("epoch"),
    )
    tested = scores.filter(pl.col("k") == k).join(validation, on=[*CELL_COLUMNS, "trial_id"])
    if tested.is_empty():
        raise PodiumError("no fold of the final stage has a test score yet")
    splits = kfold.group_by("block", "protocol", "fold").agg(pl.col("split_hash").n_unique())
    if (splits["split_hash"] > 1).any():  # only repeats give a fold several
        num_repeats = finals["repeat"].n_unique()
        tested = tested.with_columns(
            (pl.col("repeat") * pl.col("num_folds") + pl.col("fold")).alias("fold"),
            pl.col("num_folds") * pl.when(pl.col("num_folds") > 1).then(num_repeats).otherwise(1),
        )
    return (
        tested.group_by(*CELL_COLUMNS, "num_folds", "num_parts", "fold")
        .agg(
            pl.col("val", "epoch").mean(),
            pl.col("score").mean().alias("test"),
            pl.struct("repeat", "seed_index").n_unique().alias("num_seeds"),
        )
        .sort(*CELL_COLUMNS, "fold")
    )


def cross_validation_table(folds: pl.DataFrame) -> pl.DataFrame:
    """Mean and sample standard deviation over the folds of `fold_table`, one row per cell.

    Returns:
        ``CELL_COLUMNS``, ``num_folds`` (those with a score), ``num_missing``, ``num_seeds`` (the
        fewest of any fold), ``test_mean``, ``test_std``, ``val_mean``, ``val_std`` and ``tau``
        (Kendall's, best validation against test over folds; null if undefined or of two folds).
        The last three are null where there are no validation scores.
    """
    rows = []
    for cell, group in folds.group_by(CELL_COLUMNS, maintain_order=True):
        test_mean, test_std = fold_statistics(group["test"].to_list())
        has_val = group["val"].is_not_null().any()
        val_mean, val_std = fold_statistics(group["val"].to_list()) if has_val else (None, None)
        is_ranked = has_val and len(group) >= FEWEST_VALUES
        tau = (
            kendall_tau(group["val"].to_list(), group["test"].to_list()) if is_ranked else math.nan
        )
        rows.append(
            {
                **dict(zip(CELL_COLUMNS, cell, strict=True)),
                "num_folds": len(group),
                "num_missing": group["num_folds"][0] - len(group),
                "num_seeds": group["num_seeds"].min(),
                "test_mean": test_mean,
                "test_std": test_std,
                "val_mean": val_mean,
                "val_std": val_std,
                "tau": None if math.isnan(tau) else tau,
            }
        )
    return pl.DataFrame(rows)


def cross_validation_pairs(folds: pl.DataFrame) -> pl.DataFrame:
    """Corrected resampled t of every pair of losses within each block and finalist role.

    It is meant for validation scores; here it is of test scores, and a heuristic.

    Returns:
        ``block``, ``finalist``, ``protocol``, ``a``, ``b``, ``mean_difference`` (a - b), ``low``,
        ``high``, ``p_value`` and ``p_holm`` (within the block). All null for a pair whose folds do
        not match, or are fewer than three, or differ without scatter.
    """
    rows: list[tuple[object, ...]] = []
    for key, group in folds.group_by("block", "finalist", "protocol", maintain_order=True):
        family = [
            (a[0], b[0], _paired(left, right))
            for (a, left), (b, right) in combinations(
                group.group_by("loss", maintain_order=True), 2
            )
        ]
        adjusted = iter(holm([test[1] for _, _, test in family if test is not None]))
        for a_name, b_name, test in family:
            found: tuple[object, ...] = (None,) * 5
            if test is not None:
                interval, p_value = test
                ends = (interval.estimate, interval.low, interval.high)
                found = (*ends, p_value, next(adjusted))
            rows.append((*key, a_name, b_name, *found))
    return pl.DataFrame(rows, schema=_PAIRS, orient="row")


def num_parts() -> pl.Expr:
    """Of a final trial, into how many parts one repetition of its split divides the classes."""
    of_settings = pl.col("settings").str.json_path_match("$.protocol.folds").cast(pl.Int32)
    is_repeated = pl.col("split_protocol") == "repeated_kfold"
    return pl.when(is_repeated).then(of_settings).otherwise(pl.col("num_folds"))


def _paired(left: pl.DataFrame, right: pl.DataFrame) -> tuple[Interval, float] | None:
    """The test of two losses over the same folds; None if these differ, or say too little."""
    if left["fold"].to_list() != right["fold"].to_list():
        return None
    ratio = 1 / (left["num_parts"][0] - 1)
    return corrected_resampled_t(
        left["test"].to_list(), right["test"].to_list(), held_out_ratio=ratio
    )

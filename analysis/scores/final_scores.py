"""From the frames of the results store to one test score per cell.

A cell is block x loss x finalist x protocol. Seeds, folds and search repeats are averaged within
it; only blocks are counted as independent.

The column ``score`` holds a metric of test classes: Recall@K, another one of classes, which has no
hits, or nDCG@K of continuous labels, which has none either. K is 0 where the metric has none.
"""

from collections.abc import Sequence

import polars as pl

from podium.analysis.typed_tables.score_table import CELL_DIGITS
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import score_column

UNTRAINED, FEATURES = BASELINES = ("untrained", "features")
"""Finalist and loss of what no loss trained: a fresh network, and its backbone without a head."""

IS_BASELINE = pl.col("loss").is_in(BASELINES)

CELL_COLUMNS = ("block", "dataset", "backbone", "embedding_dim", "loss", "finalist", "protocol")

_SHOWN_HASH = 8


def final_trials(trials: pl.LazyFrame, train_on: str | None = None) -> pl.DataFrame:
    """The trials of the final and baseline stages, one row for each finalist role.

    Adds the column ``finalist``: ``winner``, ``default``, ``untrained`` or ``features``. A winner
    that is the published default itself was trained once and is both. Features were scored once
    for the blocks of all embedding dimensions: they have a row for each of these.

    Args:
        trials: all trials of the store.
        train_on: ``part`` or ``all``: the classes that the finals were trained on. None: ``part``,
            or ``all`` in a study that has no other. Baselines are returned in any case.

    Raises:
        PodiumError: competitors were tested on different test sets or under different protocols.
    """
    tested = trials.filter(pl.col("stage").is_in(["final", "baseline"])).collect()
    trained = set(tested["train_on"].drop_nulls())
    wanted = train_on or ("part" if "part" in trained or not trained else "all")
    finals = _in_every_block(
        tested.filter((pl.col("stage") == "baseline") | (pl.col("train_on") == wanted))
    )
    _refuse(finals, within=("block",), column="test_hash", what="test sets")
    of_losses = finals.filter(pl.col("stage") != "baseline")  # which all protocols test alike
    # Repeats may have splits of their own.
    within = ("block", "protocol", "repeat")
    _refuse(of_losses, within=within, column="protocol_hash", what="protocols")
    roles = {
        "winner": pl.col("is_winner"),
        "default": pl.col("is_default") & (pl.col("stage") == "final"),
        **{name: pl.col("loss") == name for name in BASELINES},
    }
    return pl.concat(
        finals.filter(is_role).with_columns(pl.lit(role).alias("finalist"))
        for role, is_role in roles.items()
    )


def _in_every_block(tested: pl.DataFrame) -> pl.DataFrame:
    """The trials, those without an embedding dimension in the block of each dimension."""
    has_dim = pl.col("embedding_dim").is_not_null()
    of_blocks, of_all = tested.filter(has_dim), tested.filter(~has_dim)
    alike = ["dataset", "backbone", "image_size"]
    blocks = of_blocks.select("block", "embedding_dim", *alike).unique(maintain_order=True)
    in_blocks = of_all.drop("block", "embedding_dim").join(blocks, on=alike, nulls_equal=True)
    return pl.concat([of_blocks, in_blocks.select(tested.columns)])


def final_scores(
    finals: pl.DataFrame, test_scores: pl.LazyFrame, metric: str = "recall"
) -> pl.DataFrame:
    """Test score of every final run: one row per cell, repeat, seed, fold and K.

    Args:
        finals: final trials, from ``final_trials``.
        test_scores: long frame of the store, with ``trial_id``, ``fold``, ``metric``, ``k``,
            ``value``, ``hits`` and ``queries``.
        metric: metric whose values become the column ``score``.
    """
    scores = test_scores.filter(pl.col("metric") == metric).select(
        *("trial_id", "fold", pl.col("k").fill_null(0)),
        *(pl.col("value").alias("score"), "hits", "queries"),
    )
    keys = finals.select(*CELL_COLUMNS, "repeat", "seed_index", "trial_id")
    return (
        keys.join(scores.collect(), on="trial_id")
        .with_columns(pl.col("score").fill_nan(None))
        .drop_nulls("score")
        .sort(*CELL_COLUMNS, "repeat", "seed_index", "fold", "k")
    )


def validation_scores(finals: pl.DataFrame, metric: str, ks: Sequence[int]) -> pl.DataFrame:
    """As ``final_scores``, of validation at the selected epoch, which has no hits here."""
    columns = {score_column(metric, k): k for k in ks}
    keys = (*CELL_COLUMNS, "repeat", "seed_index", "trial_id", "fold")
    return (
        finals.unpivot([*columns], index=keys, variable_name="k", value_name="score")
        .with_columns(
            pl.col("k").replace_strict(columns, return_dtype=pl.Int32),
            pl.lit(None, pl.Int64).alias("hits"),
            pl.lit(None, pl.Int64).alias("queries"),
        )
        .drop_nulls("score")
    )


def cells(finals: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """One row per cell and K, also for cells in which every run failed (null score).

    The score is hits over queries of all runs where hits are known, so that ties are exact; else
    the mean of the runs, to 12 significant digits. Only runs that succeeded count; ``num_failed``
    says how many did not.

    Returns:
        ``CELL_COLUMNS``, then ``k``, ``score`` (0 to 1), ``seed_std`` (sample standard
        deviation over seeds, each the mean of its folds; null with one seed), ``num_seeds``,
        ``num_folds``, ``num_trials``, ``num_failed``, ``hits`` and ``queries``.
    """
    counts = finals.group_by(CELL_COLUMNS).agg(
        (pl.col("state") == "COMPLETE").sum().alias("num_trials"),
        (pl.col("state") != "COMPLETE").sum().alias("num_failed"),
    )
    skeleton = counts.join(scores.select(pl.col("k").unique()), how="cross")
    means = scores.group_by(*CELL_COLUMNS, "k").agg(
        _mean_score(),
        pl.col("fold").n_unique().alias("num_folds"),
        _known_sum("hits"),
        _known_sum("queries"),
    )
    spread = (
        seed_scores(scores)
        .group_by(*CELL_COLUMNS, "k")
        .agg(pl.col("score").std(ddof=1).alias("seed_std"), pl.len().alias("num_seeds"))
    )
    keys = [*CELL_COLUMNS, "k"]
    return (
        skeleton.join(means, on=keys, how="left")
        .join(spread, on=keys, how="left")
        .with_columns(pl.col("num_folds", "num_seeds").fill_null(0))
        .select(
            *keys,
            *("score", "seed_std", "num_seeds", "num_folds", "num_trials", "num_failed"),
            *("hits", "queries"),
        )
        .sort(keys)
    )


def seed_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """``final_scores`` with folds averaged: one row per cell, repeat, seed and K.

    ``hits`` and ``queries`` are summed over folds, null where unknown.
    """
    keys = [*CELL_COLUMNS, "repeat", "seed_index", "k"]
    counts = (_known_sum("hits"), _known_sum("queries"))
    return scores.group_by(keys).agg(_mean_score(), *counts).sort(keys)


def _mean_score() -> pl.Expr:
    known = pl.col("hits").is_not_null().all() & (pl.col("queries") > 0).all()
    exact = pl.col("hits").sum() / pl.col("queries").sum()
    rounded = pl.col("score").mean().round_sig_figs(CELL_DIGITS)
    return pl.when(known).then(exact).otherwise(rounded).alias("score")


def _known_sum(column: str) -> pl.Expr:
    """The sum, or null if any value is unknown."""
    return pl.when(pl.col(column).is_not_null().all()).then(pl.col(column).sum()).alias(column)


def _refuse(trials: pl.DataFrame, *, within: Sequence[str], column: str, what: str) -> None:
    mixed = (
        trials.group_by(within)
        .agg(pl.col(column).drop_nulls().unique().sort())
        .filter(pl.col(column).list.len() > 1)
        .sort(within)
    )
    if mixed.is_empty():
        return
    group = mixed.row(0, named=True)
    rows = trials.filter(*(pl.col(name) == group[name] for name in within))
    sides = "; ".join(
        f"{value[:_SHOWN_HASH]} with "
        + ", ".join(rows.filter(pl.col(column) == value)["loss"].unique().sort())
        for value in group[column]
    )
    where = " with protocol ".join(str(group[name]) for name in within[:2])
    raise PodiumError(
        f"losses can only be compared on the same data: block {where} mixes {what} "
        f"({column} {sides})"
    )

"""The scores of a study that its variance components are estimated from."""

import polars as pl

from podium.analysis.estimates.class_variance import class_variance
from podium.analysis.protocols.optimism_by_protocol import fresh_runs
from podium.analysis.scores.final_scores import final_scores
from podium.analysis.study_results.study_results import StudyResults

_NETWORK = ("block", "loss", "protocol", "repeat", "config", "seed", "fold")


def final_component_scores(results: StudyResults) -> pl.DataFrame:
    """Test scores of the tuned losses: ``block``, ``loss``, ``repeat``, ``split``, ``score``.

    A split is that of the classes that were trained on; scores are shares.
    """
    splits = results.finals.select("trial_id", "split_hash").unique()
    return (
        final_scores(results.winners, results.reader.test_scores(), results.objective)
        .filter(pl.col("k") == results.k)
        .join(splits, on="trial_id", how="left")
        .select(
            "block",
            "loss",
            "repeat",
            pl.concat_str(
                "split_hash", pl.col("fold").fill_null(-1), separator=" ", ignore_nulls=True
            ).alias("split"),
            "score",
        )
        .sort(pl.all())
    )


def final_test_classes(results: StudyResults) -> tuple[float | None, int] | None:
    """Variance over test classes of the tuned losses, runs of a loss and block together."""
    if not results.is_by_class:
        return None
    hits = (
        results.reader.test_hits()
        .filter(pl.col("queries") > 0)
        .select("trial_id", "search", "class_id", "queries", "hits")
        .join(
            results.winners.lazy().select("trial_id", "search", "block", "loss"),
            on=["trial_id", "search"],
        )
        .group_by("block", "loss", "class_id")
        .agg(pl.col("queries", "hits").sum())
        .collect()
    )
    # Losses of which runs failed have fewer queries, on the same classes.
    return class_variance([hits], group=["block"], member=["loss"])


def search_component_scores(results: StudyResults) -> pl.DataFrame:
    """Validation scores of search trials, and of finals on the split of their search.

    ``block``, ``loss``, ``config``, ``split``, ``stage``, ``repeat`` and ``score``; trials that
    did not complete are left out.
    """
    trials = results.compared_trials
    fresh = fresh_runs(trials, results.final_runs)
    keys = ["block", "loss", "repeat", "config"]
    splits = (
        trials.filter(pl.col("stage") == "search")
        .select(
            "block",
            "loss",
            pl.col("repeat").cast(pl.Int64),
            pl.col("config_hash").alias("config"),
            "split_hash",
        )
        .unique(subset=keys, keep="any", maintain_order=False)
    )
    return (
        pl.concat([results.search_runs, fresh])
        .filter(pl.col("state") == "COMPLETE")
        .drop_nulls("val")
        .join(splits, on=keys)
        .select(
            *("block", "loss", "config"),
            pl.concat_str("split_hash", pl.col("fold").fill_null(-1), separator=" ").alias(
                "split"
            ),
            *("stage", "repeat"),
            pl.col("val").alias("score"),
        )
        .sort(pl.all())
    )


def search_validation_classes(results: StudyResults) -> tuple[float | None, int] | None:
    """Variance over validation classes of the complete trials of searches, at their best epoch."""
    if not results.is_by_class:
        return None
    return class_variance(
        map(_at_best_epoch, results.class_hits),
        group=["block", "loss", "repeat", "fold"],
        member=["config", "seed"],
    )


def _at_best_epoch(hits: pl.DataFrame) -> pl.DataFrame:
    """The hits of each network at its best epoch."""
    numbered = hits.with_columns(pl.struct(_NETWORK).rle_id().alias("network"))  # they are sorted
    epochs = (
        numbered.group_by("network", "epoch")
        .agg((pl.col("hits").sum() / pl.col("queries").sum()).alias("recall"))
        .group_by("network")
        # The earliest keeps a tie, as in training.
        .agg(pl.col("epoch").sort_by("recall", "epoch", descending=[True, False]).first())
    )
    return numbered.join(epochs, on=["network", "epoch"], how="semi")

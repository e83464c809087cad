"""The gain of tuning: published default and tuned winner, on validation and on test classes."""

import polars as pl

from podium.analysis.estimates.confidence_intervals import CONFIDENCE, t_interval
from podium.analysis.hypothesis_tests.sign_flip_test import fewest_units
from podium.analysis.scores.final_scores import BASELINES, CELL_COLUMNS, IS_BASELINE, seed_scores
from podium.analysis.tournament.block_groups import Units, block_units
from podium.orchestrator.results.records.metric_columns import score_column

_COMPETITION = ["block", "loss", "protocol"]
_KEYS = ("block", "dataset", "backbone", "embedding_dim", "loss", "protocol")

_OVERALL = {
    "loss": pl.String,
    "protocol": pl.String,
    "num_blocks": pl.Int64,
    "num_kept_default": pl.Int64,
    **{
        f"{name}{end}": pl.Float64
        for name in ("val_gain", "gain", "above_baseline")
        for end in ("", "_low", "_high")
    },
}

_GAINS = {
    **dict.fromkeys(_KEYS, pl.String),
    "embedding_dim": pl.Int32,
    "gain": pl.Float64,
    "gain_low": pl.Float64,
    "gain_high": pl.Float64,
    "num_seeds": pl.Int64,
    "kept_default": pl.Boolean,
}


def selection_table(
    trials: pl.LazyFrame,
    finals: pl.DataFrame,
    scores: pl.DataFrame,
    k: int,
    metric: str = "recall",
) -> pl.DataFrame:
    """Default -> tuned -> test, one row per block and loss.

    Args:
        trials: all trials of the store, one row each.
        finals: final trials, from ``analysis.scores.final_scores.final_trials``.
        scores: scores of the final runs, from ``analysis.scores.final_scores.final_scores``.
        k: K of the scores, which are 0 to 1.
        metric: metric of the study.

    Returns:
        ``block``, ``dataset``, ``backbone``, ``embedding_dim``, ``loss``, ``protocol`` (of the
        final stage), then ``val_default`` and ``val_winner`` (search stage, at the selected epoch;
        if ``default_state`` is PRUNED, the default's is of the fewer epochs it got),
        ``test_default`` and ``test_winner`` (means over final seeds and folds), ``gain`` =
        winner - default on test, paired by seed and fold, with the t interval ``gain_low`` to
        ``gain_high`` over ``num_seeds`` seeds, or over the repeats of the search where there are
        several, each of which may have picked another winner (null with one of them, and where the
        winner is the default: ``kept_default``), ``test_untrained`` and ``test_features``, then
        ``baseline``, the better of these (``untrained`` if they are equal), and ``above_baseline``
        = winner - it.
    """
    at_k = scores.filter(pl.col("k") == k)
    gains = _paired_gains(at_k)
    test = (
        seed_scores(at_k)
        .group_by(CELL_COLUMNS)
        .agg(pl.col("score").mean())
        .pivot(on="finalist", on_columns=["default", "winner"], index=_KEYS, values="score")
        .filter(~IS_BASELINE)
        .rename({"default": "test_default", "winner": "test_winner"})
    )
    return (
        test.join(
            _search_values(trials, finals, score_column(metric, k)),
            on=["block", "loss", "protocol"],
            how="left",
        )
        .join(gains, on=list(_KEYS), how="left")
        .join(_baselines(at_k), on="block", how="left")
        .with_columns((pl.col("test_winner") - pl.col("test_baseline")).alias("above_baseline"))
        .select(
            *_KEYS,
            *("val_default", "val_winner", "default_state", "test_default", "test_winner"),
            *("gain", "gain_low", "gain_high", "num_seeds", "kept_default"),
            *(f"test_{name}" for name in BASELINES),
            *("baseline", "above_baseline"),
        )
        .sort(_KEYS)
    )


def gain_units(selection: pl.DataFrame) -> Units:
    """What intervals of mean gains are over: what a tournament of these blocks tests over.

    Args:
        selection: gains by block, from ``selection_table``; at least one.
    """
    blocks = selection.select("block", "dataset", "backbone").unique("block").sort("block")
    return block_units(
        blocks.drop("block").to_dicts(), blocks["block"].to_list(), fewest_units(1 - CONFIDENCE)
    )


def overall_selection(selection: pl.DataFrame) -> pl.DataFrame:
    """Means over blocks, one row per loss and protocol, with t intervals over `gain_units`.

    Returns:
        ``loss``, ``protocol``, ``num_blocks``, ``num_kept_default``, then ``val_gain``, ``gain``
        and ``above_baseline`` as means over the blocks where they are known, each followed by
        ``_low`` and ``_high`` (null without units).
    """
    rows = []
    with_gain = selection.with_columns(
        (pl.col("val_winner") - pl.col("val_default")).alias("val_gain")
    )
    for (loss, protocol), group in with_gain.group_by("loss", "protocol"):
        row: dict[str, object] = {
            "loss": loss,
            "protocol": protocol,
            "num_blocks": len(group),
            "num_kept_default": int(group["kept_default"].sum()),
        }
        for name in ("val_gain", "gain", "above_baseline"):
            known = group.sort("block").drop_nulls(name)
            if known.is_empty():
                row |= {name: None, f"{name}_low": None, f"{name}_high": None}
                continue
            interval = gain_units(known).interval(known[name].to_numpy())
            row |= {
                name: interval.estimate,
                f"{name}_low": interval.low,
                f"{name}_high": interval.high,
            }
        rows.append(row)
    return pl.DataFrame(rows, schema=_OVERALL).sort("loss", "protocol")


def _search_values(trials: pl.LazyFrame, finals: pl.DataFrame, column: str) -> pl.DataFrame:
    """Validation score of the default and of the selected config, averaged over repeats."""
    searched = (
        trials.filter(pl.col("stage") == "search")
        .select("search", *_COMPETITION, "config_hash", "is_default", "state", column)
        .rename({column: "value"})
        .collect()
    )
    default = (
        searched.filter("is_default")
        .group_by(_COMPETITION)
        .agg(
            pl.col("value").mean().alias("val_default"),
            pl.col("state").unique().sort().str.join(",").alias("default_state"),
        )
    )
    picked = finals.filter(pl.col("finalist") == "winner").select("search", "config_hash").unique()
    winner = (
        searched.join(picked, on=["search", "config_hash"])
        .group_by(_COMPETITION)
        .agg(pl.col("value").mean().alias("val_winner"))
    )
    return default.join(winner, on=_COMPETITION, how="full", coalesce=True)


def _paired_gains(at_k: pl.DataFrame) -> pl.DataFrame:
    """Winner minus default over the same seeds and folds, with its interval over seeds."""
    run = [*_KEYS, "repeat", "seed_index", "fold"]
    sides = [
        at_k.filter(pl.col("finalist") == finalist).select(*run, "trial_id", "score")
        for finalist in ("winner", "default")
    ]
    seeds = (
        sides[0]
        .join(sides[1], on=run, suffix="_default")
        .group_by(*_KEYS, "repeat", "seed_index")
        .agg(
            (pl.col("score") - pl.col("score_default")).mean().alias("gain"),
            (pl.col("trial_id") == pl.col("trial_id_default")).all().alias("kept_default"),
        )
        .sort(*_KEYS, "repeat", "seed_index")
    )
    rows = []
    for key, group in seeds.group_by(_KEYS, maintain_order=True):
        repeats = group.group_by("repeat").agg(pl.col("gain").mean()).sort("repeat")["gain"]
        interval = t_interval((repeats if len(repeats) > 1 else group["gain"]).to_list())
        kept = bool(group["kept_default"].all())
        rows.append(
            {
                **dict(zip(_KEYS, key, strict=True)),
                "gain": interval.estimate,
                "gain_low": None if kept else interval.low,
                "gain_high": None if kept else interval.high,
                "num_seeds": len(group),
                "kept_default": kept,
            }
        )
    return pl.DataFrame(rows, schema=_GAINS)


def _baselines(at_k: pl.DataFrame) -> pl.DataFrame:
    """Test scores of the baselines of each block, and the better one's name and score."""
    score = pl.col("score")
    means = seed_scores(at_k.filter(IS_BASELINE)).group_by("block", "loss").agg(score.mean())
    return means.group_by("block").agg(
        *(score.filter(loss=name).first().alias(f"test_{name}") for name in BASELINES),
        pl.col("loss").sort_by("score", "loss").last().alias("baseline"),
        score.max().alias("test_baseline"),
    )

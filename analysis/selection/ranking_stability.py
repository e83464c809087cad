"""How stable results are if training or validation is repeated, for each loss.

R resamples, K classes, N config-epochs, C configs. Scores are shares of 1.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, groupby, pairwise
from operator import itemgetter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.confidence_intervals import CONFIDENCE
from analysis.estimates.wilson_interval import wilson_interval
from analysis.selection.selection_candidates import config_candidates

_SEARCH = ("block", "loss", "repeat")

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


def seed_spread(scores: pl.DataFrame) -> pl.DataFrame:
    """Standard deviation of a tuned loss over seeds, pooled over its cells.

    Args:
        scores: one row per cell, repeat and seed: ``loss``, ``block``, ``repeat``, ``score``.

    Returns:
        ``loss``, ``seed_std`` (root of the mean sample variance within block and repeat, weighted
        by degrees of freedom; null with one seed everywhere), ``low`` and ``high`` (95 %,
        chi-square: rough where scores are far from normal; null where nothing varies) and
        ``num_df``.
    """
    spreads = (
        scores.group_by("loss", "block", "repeat")
        .agg(
            pl.col("score").sort().var(ddof=1).fill_null(0.0).alias("variance"),
            (pl.len() - 1).alias("df"),
        )
        .sort("loss", "block", "repeat")
    )
    rows = []
    for (loss,), group in spreads.group_by("loss", maintain_order=True):
        df = int(group["df"].sum())
        row: dict[str, object] = {"loss": loss, "num_df": df}
        if df:
            spread = math.sqrt(float((group["variance"] * group["df"]).sum()) / df)
            row["seed_std"] = spread
            if spread > 0:
                row |= dict(zip(("low", "high"), _spread_interval(spread, df), strict=True))
        rows.append(row)
    schema = {
        "loss": pl.String,
        **dict.fromkeys(("seed_std", "low", "high"), pl.Float64),
        "num_df": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema).sort("loss")


def _spread_interval(spread: float, df: int) -> tuple[float, float]:
    from scipy.special import chdtri

    tail = (1 - CONFIDENCE) / 2
    low, high = (spread * math.sqrt(df / float(chdtri(df, p))) for p in (tail, 1 - tail))
    return low, high


def best_epoch(score: str) -> pl.Expr:
    """The epoch of the highest score of a group of rows, the earliest on ties, as in training."""
    return pl.col("epoch").sort_by(score, "epoch", descending=[True, False]).first()


def epoch_stability(curves: pl.DataFrame) -> pl.DataFrame:
    """How far the best epoch moves between seeds, and what training on after it loses.

    Args:
        curves: validation score by epoch of the tuned losses: ``block``, ``loss``, ``repeat``,
            ``seed_index``, ``fold``, ``epoch``, ``value`` (null is left out).

    Returns:
        ``loss``; ``epoch_std``: standard deviation of the best epoch (the earliest keeps a tie)
        over the seeds of a block, repeat and fold, pooled; null with one seed
        everywhere; ``peak_to_last``: best minus last score, mean over networks, at least 0;
        ``num_networks``.
    """
    network = ["block", "loss", "repeat", "seed_index", "fold"]
    best = (
        curves.drop_nulls("value")
        .sort(*network, "epoch")
        .group_by(network, maintain_order=True)
        .agg(
            best_epoch("value").cast(pl.Float64).alias("best"),
            (pl.col("value").max() - pl.col("value").last()).alias("drop"),
        )
    )
    group = ["block", "loss", "repeat", "fold"]
    spread = (
        best.group_by(group, maintain_order=True)
        .agg(
            pl.col("best").var(ddof=1).alias("variance"), (pl.len().cast(pl.Int64) - 1).alias("df")
        )
        .filter(pl.col("df") > 0)
        .group_by("loss", maintain_order=True)
        .agg(
            ((pl.col("variance") * pl.col("df")).sum() / pl.col("df").sum())
            .sqrt()
            .alias("epoch_std")
        )
    )
    drops = best.group_by("loss", maintain_order=True).agg(
        pl.col("drop").mean().alias("peak_to_last"), pl.len().cast(pl.Int64).alias("num_networks")
    )
    return (
        drops.join(spread, on="loss", how="left")
        .select("loss", "epoch_std", "peak_to_last", "num_networks")
        .sort("loss")
    )


def failure_rates(trials: pl.DataFrame) -> pl.DataFrame:
    """Share of trials that failed.

    Args:
        trials: one row each, copies left out: ``loss`` and ``state``.

    Returns:
        ``loss``, ``failed`` (share), ``low`` and ``high`` (95 %, Wilson: trials taken as
        independent), ``num_failed``, ``num_pruned`` and ``num_trials``.
    """
    counts = (
        trials.group_by("loss")
        .agg(
            (pl.col("state") == "FAILED").sum().cast(pl.Int64).alias("num_failed"),
            (pl.col("state") == "PRUNED").sum().cast(pl.Int64).alias("num_pruned"),
            pl.len().cast(pl.Int64).alias("num_trials"),
        )
        .sort("loss")
    )
    found = [
        wilson_interval(failed, total)
        for failed, total in counts.select("num_failed", "num_trials").iter_rows()
    ]
    return counts.with_columns(
        pl.Series("failed", [item.estimate for item in found], dtype=pl.Float64),
        pl.Series("low", [item.low for item in found], dtype=pl.Float64),
        pl.Series("high", [item.high for item in found], dtype=pl.Float64),
    )


def reselected_by_repeats(runs: pl.DataFrame) -> pl.DataFrame:
    """How often two repeats of a search that ran the same configs pick the same one.

    Args:
        runs: table of runs from ``checked_runs``, of one protocol. Repeats that share no config,
            as where each draws its own, are left out.

    Returns:
        ``loss``, ``reselected`` (mean over blocks of the share of pairs of repeats; picks that tie
        share), ``chance`` (of a blind pick) and ``num_searches``.
    """
    groups: dict[tuple[str, str], list[dict[str, float]]] = {}
    for candidates in config_candidates(runs):
        block, loss, _ = candidates.place
        picks = dict(zip(candidates.candidates, candidates.pick_shares_C.tolist(), strict=True))
        groups.setdefault((loss, block), []).append(picks)
    rows = []
    for (loss, _), searches in sorted(groups.items()):
        pairs = [
            (sum(one[name] * other[name] for name in one.keys() & other.keys()), len(one))
            for number, one in enumerate(searches)
            for other in searches[:number]
            if one.keys() & other.keys()
        ]
        if pairs:
            rows.append(
                {
                    "loss": loss,
                    "reselected": math.fsum(share for share, _ in pairs) / len(pairs),
                    "chance": math.fsum(1 / num for _, num in pairs) / len(pairs),
                    "num_searches": len(searches),
                }
            )
    return _by_loss(rows)


def reselected_by_classes(
    class_hits: Iterable[pl.DataFrame], *, replicates: int = 200
) -> pl.DataFrame:
    """How often a search picks its config again when its validation classes are resampled.

    In each resample (the bootstrap over classes, all configs alike) the best epoch of each network
    and the best config are chosen anew; folds are averaged. A resample repeats classes, so picks
    are shakier in it than with new classes of the same number.

    Args:
        class_hits: tables from ``checked_class_hits``, of one protocol, each of whole searches and
            in the order of these. Searches whose configs have classes of their own, or one class,
            are left out.
        replicates: number of resamples.

    Returns:
        ``loss``, ``reselected`` (mean over searches; picks that tie share), ``chance`` and
        ``num_searches``.
    """
    rows = []
    folds = chain.from_iterable(map(_folds, class_hits))
    for (_, loss, _), found in groupby(folds, key=itemgetter(0)):
        scores = _resampled([fold for _, fold in found], replicates)
        if scores is None:
            continue
        first_RC, again_RC = _top(scores[:1]), _top(scores[1:])
        rows.append(
            {
                "loss": loss,
                "reselected": float((first_RC * again_RC).sum(axis=1).mean()),
                "chance": 1 / scores.shape[1],
                "num_searches": 1,
            }
        )
    return _by_loss(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fold:
    """Class hits of a search on one fold, a row for each config, seed, epoch and class.

    Rows are sorted so; ``configs`` are numbers of configs, ``runs`` number them by config and
    seed, ``epochs`` by epoch too.
    """

    configs: _Ints
    runs: _Ints
    epochs: _Ints
    class_ids: _Ints
    hits: _Ints
    queries: _Ints


def _folds(class_hits: pl.DataFrame) -> Iterator[tuple[tuple[str, str, int], _Fold]]:
    """Every search with each of its folds."""
    fold = (*_SEARCH, "fold")
    has_folds = class_hits["fold"].null_count() < class_hits.height
    rows = (
        class_hits.sort(*fold, "config", "seed", "epoch", "class_id") if has_folds else class_hits
    )
    columns = rows.select(
        _run_number(fold).alias("fold"),
        pl.col("config").rank("dense").cast(pl.Int64).alias("configs"),
        _run_number((*fold, "config", "seed")).alias("runs"),
        _run_number((*fold, "config", "seed", "epoch")).alias("epochs"),
        pl.col("class_id").alias("class_ids"),
        *("hits", "queries"),
    ).to_dict()
    starts = _starts(columns.pop("fold").to_numpy())
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    searches = rows.select(_SEARCH)[starts].iter_rows()
    for (block, loss, repeat), (start, end) in zip(
        searches, pairwise([*starts, rows.height]), strict=True
    ):
        part = {name: array[start:end] for name, array in arrays.items()}
        yield (block, loss, repeat), _Fold(**part)


def _run_number(names: Sequence[str]) -> pl.Expr:
    """Counts the runs of rows that are equal in these columns."""
    return pl.struct(names).rle_id().cast(pl.Int64)


def _top(scores_RC: NDArray[np.float64]) -> NDArray[np.float64]:
    is_top_RC = scores_RC >= scores_RC.max(axis=1, keepdims=True) - 1e-12
    shares_RC: NDArray[np.float64] = is_top_RC / is_top_RC.sum(axis=1, keepdims=True)
    return shares_RC


def _resampled(folds: Sequence[_Fold], replicates: int) -> _Floats | None:
    """Scores of the configs on all classes (row 0) and on resampled ones: (1 + R, C).

    None if configs have classes of their own, or one class.
    """
    parts = [_fold_scores(fold, replicates, seed=number) for number, fold in enumerate(folds)]
    num_configs = len(np.unique(np.concatenate([fold.configs for fold in folds])))
    known = [part for part in parts if part is not None and part.shape[1] == num_configs]
    if len(known) < len(folds):
        return None
    totals: _Floats = reduce(np.add, known)
    return totals / len(folds)


def _fold_scores(fold: _Fold, replicates: int, *, seed: int) -> _Floats | None:
    """Best epoch's recall of each config on one fold: (1 + R, C)."""
    num_classes = len(np.unique(fold.class_ids))
    starts_N, starts_C = _starts(fold.epochs), _starts(fold.configs)
    if num_classes < 2 or len(starts_N) * num_classes != len(fold.hits):
        return None
    if len(_starts(fold.runs)) > len(starts_C):
        return None
    hits_NK, queries_NK = (
        column.reshape(-1, num_classes).astype(np.float64) for column in (fold.hits, fold.queries)
    )
    drawn_RK = np.random.default_rng(seed).multinomial(
        num_classes, [1 / num_classes] * num_classes, size=replicates
    )
    weights_RK = np.concatenate([np.ones((1, num_classes)), drawn_RK])
    recalls_RN = (weights_RK @ hits_NK.T) / (weights_RK @ queries_NK.T)
    starts = np.flatnonzero(np.isin(starts_N, starts_C))
    best_RC: _Floats = np.maximum.reduceat(recalls_RN, starts, axis=1)
    return best_RC


def _starts(numbers: _Ints) -> NDArray[np.intp]:
    """The rows where another number begins."""
    return np.flatnonzero(np.diff(numbers, prepend=-1))


def _by_loss(rows: Sequence[dict[str, object]]) -> pl.DataFrame:
    schema = {
        "loss": pl.String,
        "reselected": pl.Float64,
        "chance": pl.Float64,
        "num_searches": pl.Int64,
    }
    return (
        pl.DataFrame(list(rows), schema=schema)
        .group_by("loss", maintain_order=True)
        .agg(pl.col("reselected", "chance").mean(), pl.col("num_searches").sum())
        .sort("loss")
    )

"""The incumbent of a search after each of its trials, for any sampler."""

import polars as pl

from analysis.estimates.split_halves import MEAN_DIGITS
from analysis.scores.protocol_run_checks import SEARCH


def incumbent_curves(runs: pl.DataFrame) -> pl.DataFrame:
    """The incumbent of each search after each of its trials.

    Trials count in the order they were suggested. Only complete ones can be the incumbent, and the
    earliest keeps a tie; failed and pruned ones take their time. Nothing is extrapolated.

    Args:
        runs: table of runs from ``checked_runs``. If a search ran a config several times, the
            first run counts.

    Returns:
        ``block``, ``loss``, ``protocol``, ``repeat``, ``num_trials``, ``val`` (null before the
        first complete trial), ``test`` (of the incumbent's own run; null if it was not tested) and
        ``gpu_hours`` so far (null if any trial's is unknown).
    """
    is_complete = (pl.col("state") == "COMPLETE").all() & pl.col("val").is_not_null().all()
    hours = (
        pl.when(pl.col("gpu_seconds").is_not_null().all()).then(pl.col("gpu_seconds").sum()) / 3600
    )
    trials = (
        runs.filter(pl.col("stage") == "search")
        .group_by(*SEARCH, "config", "seed")
        .agg(
            pl.when(is_complete).then(pl.col("val").mean().round(MEAN_DIGITS)).alias("val"),
            pl.when(pl.col("test").is_not_null().all()).then(pl.col("test").mean()).alias("test"),
            hours.alias("hours"),
            pl.col("index").min(),
        )
        .sort(*SEARCH, "index", "config", "seed", nulls_last=True)
        .unique(subset=[*SEARCH, "config"], keep="first", maintain_order=True)
    )
    best = pl.col("val").cum_max().forward_fill().over(SEARCH)
    is_new = pl.col("val").is_not_null() & (
        pl.col("val") > pl.col("best").shift(1).over(SEARCH).fill_null(float("-inf"))
    )
    curves = trials.with_columns(best.alias("best")).with_columns(is_new.alias("is_new"))
    # The test score of the trial that last became the incumbent; null stays null.
    turn = pl.col("is_new").cast(pl.Int64).cum_sum().over(SEARCH)
    curves = curves.with_columns(turn.alias("turn"))
    test = pl.col("test").first().over(*SEARCH, "turn")
    known = pl.col("hours").is_not_null().cum_min().over(SEARCH)
    return curves.select(
        *SEARCH,
        pl.int_range(1, pl.len() + 1).over(SEARCH).alias("num_trials"),
        pl.col("best").alias("val"),
        pl.when(pl.col("turn") > 0).then(test).alias("test"),
        pl.when(known).then(pl.col("hours").cum_sum().over(SEARCH)).alias("gpu_hours"),
    )


def budget_means(curves: pl.DataFrame, values: tuple[str, ...]) -> pl.DataFrame:
    """Means over the searches of each loss, after centring by block.

    The mean over all searches of a block after one trial is subtracted from its values, so that
    blocks weigh alike whatever their level. Only search budgets that every search reached are
    compared.

    Args:
        curves: one row per search and ``num_trials``, with ``gpu_hours`` and columns of scores.
        values: names of the columns of scores.

    Returns:
        ``loss``, ``num_trials``, the values and ``gpu_hours`` (null where a search has none),
        ``<value>_std`` (sample standard deviation over searches, null with one) and
        ``num_searches``.
    """
    if curves.is_empty():
        return pl.DataFrame()
    last = curves.group_by(SEARCH).agg(pl.col("num_trials").max())["num_trials"].min()
    firsts = (
        curves.filter(pl.col("num_trials") == pl.col("num_trials").min().over(SEARCH))
        .group_by("block")
        .agg(pl.col(name).sort().mean().alias(f"{name}_first") for name in values)
    )
    centred = (
        curves.filter(pl.col("num_trials") <= last)
        .join(firsts, on="block")
        .with_columns(pl.col(name) - pl.col(f"{name}_first") for name in values)
        .sort(*SEARCH, "num_trials")
    )

    def whole(name: str, value: pl.Expr) -> pl.Expr:
        return pl.when(pl.col(name).is_not_null().all()).then(value)

    return (
        centred.group_by("loss", "num_trials")
        .agg(
            *(whole(n, pl.col(n).mean()).alias(n) for n in (*values, "gpu_hours")),
            *(whole(n, pl.col(n).std(ddof=1)).alias(f"{n}_std") for n in values),
            pl.len().cast(pl.Int64).alias("num_searches"),
        )
        .sort("loss", "num_trials")
    )


def mean_halves(curves: pl.DataFrame, *, are_shared: bool) -> pl.DataFrame:
    """Half-width of the interval of a loss's mean over its searches, from those of the searches.

    Searches of other blocks are independent. Repeats of a block are too, unless they run the same
    configs: these are correlated, and the mean of their half-widths is taken for all.

    Args:
        curves: one row per search and ``num_trials``, with ``half`` (null if unknown).
        are_shared: whether repeats run the same configs.

    Returns:
        ``loss``, ``num_trials`` and ``half``, null if that of any search is unknown.
    """
    half = pl.col("half").sort()
    independent = (half**2).sum().sqrt() / pl.len()

    def known(value: pl.Expr) -> pl.Expr:
        return pl.when(pl.col("half").is_not_null().all()).then(value).alias("half")

    return (
        curves.group_by("loss", "num_trials", "block")
        .agg(known(half.mean() if are_shared else independent))
        .group_by("loss", "num_trials")
        .agg(known(independent))
    )

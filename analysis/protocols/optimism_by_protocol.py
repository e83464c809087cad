"""Optimism (selection bias) of the validation scores of picks, over the searches of a protocol."""

from collections.abc import Collection, Iterable

import polars as pl

from podium.analysis.hypothesis_tests.group_means import group_means, independent_cells
from podium.analysis.protocols.optimism import (
    class_optimism,
    fresh_run_optimism,
    of_several_classes,
)

_SEARCH = ["block", "loss", "protocol", "repeat"]
NO_FRESH_RUNS = (
    "no pick was validated again on its classes: finals have another split (final.protocol), or"
    " repeats have"
)


def searched_on_one_split(trials: pl.DataFrame) -> list[str]:
    """Labels of the protocols under which all searches of a block have one split."""
    searched = trials.filter(pl.col("stage") == "search")
    splits = searched.group_by("block", "protocol").agg(pl.col("split_hash").n_unique())
    most = splits.group_by("protocol").agg(pl.col("split_hash").max())
    return most.filter(pl.col("split_hash") == 1)["protocol"].sort().to_list()


def optimism_over_classes(
    class_hits: Iterable[pl.DataFrame], *, one_split: Collection[str] = ()
) -> pl.DataFrame:
    """Means of ``class_optimism`` over searches: in all, of choosing epochs and of configs.

    Args:
        class_hits: hits of each network, epoch and class: tables from ``checked`` of
            whole searches, in the order of these; networks validated on fewer than four classes
            are left out.
        one_split: protocols all of whose repeats have the same validation classes. They are one
            draw of classes, so repeats give no interval over classes.

    Returns:
        As ``group_means``, of ``optimism``, ``epoch`` and ``config``.
    """
    found = class_optimism(map(of_several_classes, class_hits))
    means = group_means(independent_cells(found), ("optimism", "epoch", "config"))
    has_draws = ~pl.col("protocol").is_in(list(one_split))
    return means.with_columns(
        pl.when(has_draws).then(pl.col(name)) for name in ("low", "high", "standard_error")
    )


def fresh_runs(trials: pl.DataFrame, finals: pl.DataFrame) -> pl.DataFrame:
    """The final runs that were validated on the classes of their own search's split."""
    searched = trials.filter(pl.col("stage") == "search")
    splits = (
        searched.group_by(_SEARCH)
        .agg(pl.col("split_hash").unique())
        .filter(pl.col("split_hash").list.len() == 1)
        .with_columns(pl.col("split_hash").list.first().str.split("+"))
    )
    of_finals = trials.filter(pl.col("stage") == "final", pl.col("train_on") == "part").select(
        *_SEARCH,
        pl.col("config_hash").alias("config"),
        pl.col("seed_index").cast(pl.Int64).alias("seed"),
        pl.col("fold").alias("split"),
        pl.col("num_folds"),
        "split_hash",
    )
    is_own = pl.col("split_hash") == pl.col("split_hash_right").list.get(
        pl.col("split"), null_on_oob=True
    )
    fold = pl.when(pl.col("num_folds") > 1).then(pl.col("split")).cast(pl.Int64)
    same = (
        of_finals.join(splits, on=_SEARCH)
        .filter(is_own)
        .select(
            *_SEARCH[:3], pl.col("repeat").cast(pl.Int64), "config", "seed", fold.alias("fold")
        )
    )
    return finals.join(same, on=[*_SEARCH, "config", "seed", "fold"], how="semi", nulls_equal=True)


def optimism_over_runs(
    runs: pl.DataFrame, fresh: pl.DataFrame, *, one_split: Collection[str]
) -> pl.DataFrame:
    """Means of ``fresh_run_optimism`` of the picks over searches.

    Of a protocol in ``one_split`` all repeats have the same validation classes, so runs of the
    same config in other repeats are fresh too.

    Returns:
        As ``group_means``, of ``fresh``.
    """
    both = pl.concat([runs, fresh])
    across = both.filter(pl.col("protocol").is_in(list(one_split)))
    within = both.filter(~pl.col("protocol").is_in(list(one_split)))
    repeats = both["repeat"].unique().sort().to_list()
    alone = [_cells(within.filter(pl.col("repeat") == j), across=False) for j in repeats]

    def cells(left_out: int | None) -> pl.DataFrame:
        kept = pl.col("repeat").is_in([j for j in repeats if j != left_out])
        return pl.concat(
            [_cells(across.filter(kept), across=True), *(frame.filter(kept) for frame in alone)]
        )

    return group_means({j: cells(j) for j in (None, *repeats)}, ["fresh"])


def _cells(both: pl.DataFrame, *, across: bool) -> pl.DataFrame:
    found = fresh_run_optimism(both, across_repeats=across)
    return found.select(*_SEARCH, pl.col("optimism").alias("fresh"))

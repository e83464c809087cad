"""Scores as papers print them: losses by backbone and embedding dimension, for each data set."""

from dataclasses import dataclass

import polars as pl

from podium.analysis.scores.final_scores import BASELINES, IS_BASELINE
from podium.analysis.typed_tables.score_table import CELL_DIGITS, ScoreTable

_PERCENT = 100
_DIM_NAMES = ("embedding_dim", "embedding_size", "dim")
_SEED = "seed"
_NO_STD = (pl.lit(None, pl.Float64).alias("std"), pl.lit(0, pl.Int64).alias("num_runs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGrid:
    """Scores of a tournament by data set, backbone, dimension, loss and K.

    Attributes:
        rows: sorted; one row per place, backbone, dim, loss and k. ``place`` is all of a block but
            backbone and embedding dimension, most often its data set; ``backbone``, ``dim`` and
            ``k`` are null where the source has none. ``score`` is null for a cell without a run
            that succeeded; ``std`` (sample standard deviation) also with a single run.
            ``num_runs`` counts the runs of ``std``, 0 if that is not known, and ``num_failed``
            the trials that failed. ``is_baseline`` is of what no loss trained.
        run_noun: noun for a run of ``std``: ``seed``, or the column of a file.
    """

    rows: pl.DataFrame
    run_noun: str

    def at_k(self, k: int) -> "ScoreGrid":
        """The rows of one K."""
        return ScoreGrid(rows=self.rows.filter(pl.col("k") == k), run_noun=self.run_noun)


def study_grid(cells: pl.DataFrame, trials: pl.DataFrame, *, in_percent: bool = True) -> ScoreGrid:
    """Winners and baselines of a study.

    A data set that is shown in several image sizes has a place for each.

    Args:
        cells: cells of one protocol, from `analysis.scores.final_scores.cells`.
        trials: trials of the store, which have the image sizes of blocks.
        in_percent: whether scores are shares, to be shown as percentages.
    """
    sizes = trials.select("block", "image_size").unique()
    size = pl.col("image_size")
    sized = pl.format("{}, {} px", "dataset", size)
    factor = _PERCENT if in_percent else 1
    shown = cells.filter(pl.col("finalist").is_in(["winner", *BASELINES])).join(
        sizes, on="block", how="left"
    )
    several = size.n_unique().over("dataset") > 1
    rows = shown.select(
        pl.when(several & size.is_not_null()).then(sized).otherwise("dataset").alias("place"),
        "backbone",
        pl.col("embedding_dim").cast(pl.Float64).alias("dim"),
        "loss",
        pl.col("k").cast(pl.Int64),
        (pl.col("score") * factor).alias("score"),
        (pl.col("seed_std") * factor).alias("std"),
        pl.col("num_seeds").cast(pl.Int64).alias("num_runs"),
        pl.col("num_failed").cast(pl.Int64),
        IS_BASELINE.alias("is_baseline"),
    )
    return ScoreGrid(rows=_sorted(rows), run_noun="seed")


def table_grid(table: ScoreTable) -> ScoreGrid:
    """Scores of a file, in its unit.

    A column ``backbone`` and one ``embedding_dim`` (``embedding_size``, ``dim``) among those that
    name a block are taken for what they say; dimensions only if they are positive numbers.
    Standard deviations are over seeds, where the file has a column ``seed``, or over the one
    column that was averaged; over several others there is none.
    """
    noun = _run_column(table.run_columns)
    spreads = _spreads(table, noun)
    cells = table.cells.join(
        spreads, on=[*table.by, table.competitor], how="left", nulls_equal=True
    )
    rows = _file_rows(cells, table, pl.lit(table.k, pl.Int64))
    return ScoreGrid(rows=rows, run_noun=(noun or "run").removesuffix("_index"))


def every_k_grid(table: ScoreTable) -> ScoreGrid | None:
    """Scores of a file at all its K, without spreads; None if it has a single K or none."""
    if table.every_k is None or table.every_k["k"].n_unique() < 2:
        return None
    cells = table.every_k.with_columns(*_NO_STD)
    return ScoreGrid(rows=_file_rows(cells, table, pl.col("k")), run_noun="run")


def _file_rows(cells: pl.DataFrame, table: ScoreTable, k: pl.Expr) -> pl.DataFrame:
    backbone = "backbone" if "backbone" in table.by else None
    dim = dimension_column(table)
    rest = [name for name in table.by if name not in (backbone, dim)]
    place = pl.concat_str([pl.col(name).cast(pl.String) for name in rest], separator="/")
    return _sorted(
        cells.select(
            (place if rest else pl.lit("")).alias("place"),
            _optional(backbone, pl.String).alias("backbone"),
            _optional(dim, pl.Float64).alias("dim"),
            pl.col(table.competitor).cast(pl.String).alias("loss"),
            k.alias("k"),
            pl.col(table.score).alias("score"),
            "std",
            pl.col("num_runs").fill_null(0),
            pl.lit(0, pl.Int64).alias("num_failed"),
            pl.lit(value=False).alias("is_baseline"),
        )
    )


def dimension_column(table: ScoreTable) -> str | None:
    """The column of embedding dimensions among those that name a block; None without."""
    return next((name for name in table.by if _is_dim(table.cells, name)), None)


def _is_dim(cells: pl.DataFrame, name: str) -> bool:
    return name in _DIM_NAMES and cells[name].dtype.is_numeric() and bool((cells[name] > 0).all())


def _optional(name: str | None, dtype: type[pl.DataType]) -> pl.Expr:
    return pl.lit(None, dtype) if name is None else pl.col(name).cast(dtype)


def _run_column(run_columns: tuple[str, ...]) -> str | None:
    if _SEED in run_columns:
        return _SEED
    return run_columns[0] if len(run_columns) == 1 else None


def _spreads(table: ScoreTable, noun: str | None) -> pl.DataFrame:
    """``std`` and ``num_runs`` of every cell; what else was averaged is averaged before."""
    cell = [*table.by, table.competitor]
    if noun is None:
        return table.cells.select(*cell, *_NO_STD)
    score = pl.col(table.score)
    runs = table.runs.drop_nulls(table.score).group_by(*cell, noun).agg(score.sort().mean())
    return runs.group_by(cell).agg(
        score.sort().std(ddof=1).round_sig_figs(CELL_DIGITS).alias("std"),
        pl.len().cast(pl.Int64).alias("num_runs"),
    )


def _sorted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("place", "backbone", "dim", "k", "is_baseline", "loss")

"""Competitors that are left out, by name or as means of the others, and what that gives.

A printed mean may lie half a unit of its last decimal from the true one. A column has the decimals
of its longest value, since spreadsheets drop zeros at the end.
"""

from collections.abc import Sequence

import polars as pl

from podium.analysis.typed_tables.row_filters import near_hint
from podium.analysis.typed_tables.score_names import normal
from podium.analysis.typed_tables.table_checks import block_text, named
from podium.errors import PodiumError

_SHOWN = 5
_STATISTICS = {"max": "largest", "min": "smallest", "mean": "mean", "median": "median"}
_EXTREMES = {"best": "max", "worst": "min", "maximum": "max", "minimum": "min"}
_AVERAGES = {"average", "averages", "avg", "mean", "means", "overall_average", "overall_mean"}


def leave_out(
    frame: pl.DataFrame, names: Sequence[str], *, competitor: str, source: str
) -> pl.DataFrame:
    """The rows of the other competitors.

    Raises:
        PodiumError: the table has no competitor of a name, or no other.
    """
    known = [str(name) for name in frame[competitor].unique(maintain_order=True)]
    for name in names:
        if name not in known:
            raise PodiumError(
                f"--without {name}: {source} has no such competitor; column {competitor!r} holds"
                f" {', '.join(known)}.{near_hint(name, known)}"
            )
    kept = frame.filter(~pl.col(competitor).cast(pl.String).is_in(list(names)))
    if kept.is_empty():
        raise PodiumError(f"--without leaves no competitor of {source}")
    return kept


def omission_text(
    cells: pl.DataFrame, *, by: Sequence[str], competitor: str, score: str
) -> tuple[str, ...]:
    """One sentence on the complete blocks that leaving out competitors would give.

    A missing score of ``cells`` is null, or its row absent.

    Returns:
        Nothing where all blocks are complete.
    """
    blocks = cells.group_by(by, maintain_order=True).agg(pl.col(score).count().alias("__scored"))
    names = cells.select(competitor).unique(maintain_order=True)
    complete = len(blocks.filter(pl.col("__scored") == len(names)))
    if complete == len(blocks):
        return ()
    blocks = blocks.with_row_index("__block")
    scored = cells.drop_nulls(score).join(blocks, on=by, nulls_equal=True)
    is_before_gap = pl.col("__block").sort() == pl.int_range(pl.len())
    gaps = scored.group_by(competitor).agg(is_before_gap.sum().alias("__gap"))
    lacking = names.join(gaps, on=competitor, how="left", maintain_order="left").fill_null(0)
    lacking = lacking.filter(pl.col("__gap") < len(blocks)).sort("__gap", maintain_order=True)
    lack_one = blocks.filter(pl.col("__scored") == len(names) - 1).join(names, how="cross")
    alone = lack_one.join(scored, on=["__block", competitor], how="anti")
    gains = lacking.join(alone.group_by(competitor).len(), on=competitor, maintain_order="left")
    gains = gains.sort("len", descending=True, maintain_order=True).select(competitor, "len")
    parts = [f"{complete + count} without {name}" for name, count in gains.head(_SHOWN).rows()]
    if len(lacking) > 1:
        all_names = ", ".join(map(str, lacking[competitor]))
        parts.append(f"all {len(blocks)} without {all_names}")
    return (
        f"{complete} of {len(blocks)} settings hold a score of every competitor; there would be"
        f" {', '.join(parts)} (--without NAME)",
    )


def without_averages(
    frame: pl.DataFrame, column: str, within: Sequence[str], score: str, *, lower_is_better: bool
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of all but averages of the others, and a sentence on each value called an average.

    So with a median, and the best or worst of the others.
    """
    names = frame[column].unique(maintain_order=True).drop_nulls().cast(pl.String)
    found = {name: _statistic(name, lower_is_better=lower_is_better) for name in names}
    averages = {name: statistic for name, statistic in found.items() if statistic is not None}
    others = frame.filter(~pl.col(column).cast(pl.String).is_in(averages))
    if not averages or others[column].n_unique() < 2:
        return frame, ()
    means = others.group_by(within).agg(
        getattr(pl.col(score), statistic)().alias(statistic) for statistic in _STATISTICS
    )
    sentences: list[str] = []
    kept = []
    for name, statistic in averages.items():
        what = _STATISTICS[statistic]
        rows = frame.filter(pl.col(column).cast(pl.String) == name)
        beside = rows.join(means, on=within, how="left", nulls_equal=True).drop_nulls(score)
        slack = 10.0 ** -_decimals(beside[score]) * (1 + 1e-6) * (statistic in ("mean", "median"))
        gap = (pl.col(score) - pl.col(statistic)).abs()
        wrong = beside.filter((gap > slack) | pl.col(statistic).is_null())
        if len(beside) and wrong.is_empty():
            sentences.append(f"left out: {name!r} of {column}, the {what} of the others")
            continue
        kept.append(name)
        of_rows = named(
            f"{block_text([row[key] for key in within])} {row[score]:g},"
            f" not {row[statistic] or 0:.4g}"
            for row in wrong.to_dicts()
        )
        sentences.append(
            f"{name!r} of {column} is ranked, for it is not the {what} of the others: {of_rows}"
        )
    left_out = [name for name in averages if name not in kept]
    return frame.filter(~pl.col(column).cast(pl.String).is_in(left_out)), tuple(sentences)


def _statistic(name: str, *, lower_is_better: bool) -> str | None:
    """What a name says that its scores are of the others; None of any other name."""
    word = "mean" if normal(name) in _AVERAGES else _EXTREMES.get(normal(name), normal(name))
    if lower_is_better and normal(name) in ("best", "worst"):
        word = "min" if word == "max" else "max"
    return word if word in _STATISTICS else None


def _decimals(printed: pl.Series) -> int:
    """The decimals of the longest number of a column, 0 to 15."""
    texts = (f"{value:.15g}" for value in printed.drop_nulls())
    return max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)

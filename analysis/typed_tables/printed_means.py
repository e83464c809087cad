"""Means and ranks that a table prints of its own scores: left out of the ranking, and checked.

A printed mean may lie half a unit of its last decimal from the true one. A column has the decimals
of its longest value, since spreadsheets drop zeros at the end.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from podium.analysis.typed_tables.score_names import normal, score_name
from podium.analysis.typed_tables.table_checks import (
    block_text,
    check_columns,
    named,
    refuse_duplicates,
    with_scores,
    without_doubles,
)
from podium.analysis.typed_tables.table_file import TableFile
from podium.analysis.typed_tables.table_layout import (
    Layout,
    competitor_column,
    first_called,
    plain_score_columns,
    score_column,
    score_columns,
)
from podium.analysis.typed_tables.table_options import TableOptions

_STATISTICS = {"max": "largest", "min": "smallest", "mean": "mean", "median": "median"}
_EXTREMES = {"best": "max", "worst": "min", "maximum": "max", "minimum": "min"}
_AVERAGES = {"average", "averages", "avg", "mean", "means", "overall_average", "overall_mean"}
_TOTAL_RANK = ("total_rank", "rank_total", "rank_sum", "sum_of_ranks", "total")
_AVERAGE_RANK = ("average_rank", "avg_rank", "mean_rank", "rank_mean")
_MEAN = "__mean"


def without_averages(
    frame: pl.DataFrame, column: str, within: Sequence[str], score: str, *, lower_is_better: bool
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of all but averages of the others, and a sentence on each value called an average.

    So with a median, and the best or worst of the others.

    Args:
        frame: one score per row; null where it is missing.
        column: column of competitors or of data sets.
        within: the other columns that name one row.
        score: column of scores.
        lower_is_better: whether the best score is the smallest.
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


def mean_warnings(
    frame: pl.DataFrame, layout: Layout, *, lower_is_better: bool
) -> tuple[str, ...]:
    """Warnings of averages and ranks that a wide table prints beside the scores of its rows.

    Nothing is said where scores of several K or metrics leave open which of them are meant.

    Args:
        frame: the wide table.
        layout: what its columns are.
        lower_is_better: whether small scores rank first.
    """
    scores = frame.select(pl.col(name).cast(pl.Float64) for name in layout.beside)
    of_k = {found.k for name in layout.beside if (found := score_name(name)) is not None}
    metrics = {found.metric for name in frame.columns if (found := score_name(name)) is not None}
    if len(layout.beside) < 2 or len(of_k) > 1 or len(metrics) > 1:
        return ()
    scores = scores.with_columns(
        pl.when(pl.all_horizontal(pl.col(layout.beside).is_not_null()))
        .then(pl.mean_horizontal(layout.beside))
        .alias(_MEAN)
    )
    columns = [(name, scores[_MEAN]) for name in frame.columns if _is_average(name)]
    total = _total_ranks(scores.drop(_MEAN), lower_is_better=lower_is_better)
    if total is not None:
        ranks = ((_TOTAL_RANK, total), (_AVERAGE_RANK, total / len(layout.beside)))
        columns += [
            (name, true)
            for names, true in ranks
            if (name := first_called(frame.columns, names)) is not None
        ]
    return tuple(
        f"column {name!r} does not go with the scores: {named(wrong)}"
        for name, true in columns
        if frame[name].dtype.is_numeric()
        and (wrong := list(_wrong(frame[layout.competitor], frame[name], true)))
    )


def printed_ranks(
    table: TableFile, given: TableOptions
) -> tuple[list[dict[str, object]], int | None, tuple[str, ...]] | None:
    """The ranks of a table that has no scores, but totals or averages of ranks; else None.

    Returns:
        ``place``, ``competitor``, ``total_rank`` and ``average_rank`` as printed, best first, of
        those that the table has; the number of blocks that its totals and averages agree on, None
        if unknown; what is wrong with them.

    Raises:
        PodiumError: a competitor has two rows or no name, or a rank is no number.
    """
    frame, competitor = table.frame, competitor_column(table.frame, given)
    total = first_called(frame.columns, _TOTAL_RANK)
    names = (*_AVERAGE_RANK, *(_AVERAGES if total is not None else ()))
    average = first_called(frame.columns, names)
    columns = [name for name in (total, average) if name is not None]
    if competitor is None or not columns or given.score is not None:
        return None
    if (
        score_column(frame, given) is not None
        or score_columns(frame, given, competitor)
        or plain_score_columns(frame, given, competitor)
    ):
        return None
    for name in columns:
        check_columns(frame, keys=[competitor], score=name, table=table)
        frame = with_scores(frame, name, table=table)
    frame, doubled = without_doubles(frame, [competitor])
    refuse_duplicates(frame, by=(), competitor=competitor, score=columns[0])
    shown = frame.select(
        pl.col(columns[0]).rank("min").cast(pl.Int64).alias("place"),
        pl.col(competitor).alias("competitor"),
        *([pl.col(total).alias("total_rank")] if total is not None else []),
        *([pl.col(average).alias("average_rank")] if average is not None else []),
    )
    blocks = _blocks(shown)
    rows = shown.sort("place", nulls_last=True, maintain_order=True).to_dicts()
    return rows, blocks, (*doubled, *_rank_warnings(shown, blocks))


def _is_average(name: str) -> bool:
    found = score_name(name)
    return normal(name) in _AVERAGES or (found is not None and normal(found.block) in _AVERAGES)


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


def _total_ranks(scores: pl.DataFrame, *, lower_is_better: bool) -> pl.Series | None:
    """The sum of ranks of each row; None where a score is missing, or shared by any rule."""
    if any(column.null_count() or column.is_duplicated().any() for column in scores):
        return None
    return scores.select(pl.sum_horizontal(pl.all().rank(descending=not lower_is_better)))[
        :, 0
    ].cast(pl.Float64)


def _wrong(names: pl.Series, printed: pl.Series, true: pl.Series) -> Iterator[str]:
    """What each printed number should be, of those that are not the true one rounded."""
    decimals = _decimals(printed)
    unit = 10.0**-decimals
    for name, value, right in zip(names, printed, true, strict=True):
        if value is None or right is None or abs(value - right) <= unit / 2 * (1 + 1e-6):
            continue
        is_cut = abs(math.floor(right / unit + 1e-6) * unit - value) < unit / 4
        cause = " (cut off, not rounded)" if is_cut else ""
        yield f"{name} has {value:g}, should be {right:.{decimals}f}{cause}"


def _blocks(ranks: pl.DataFrame) -> int | None:
    """The number of blocks that most totals and averages agree on, or else the sum of totals."""
    if "total_rank" not in ranks.columns:
        return None
    if "average_rank" in ranks.columns:
        rows = ranks.drop_nulls().filter(pl.col("average_rank") >= 1)
        votes = Counter((rows["total_rank"] / rows["average_rank"]).round().cast(pl.Int64))
        if votes:
            return int(votes.most_common(1)[0][0])
    k = len(ranks)
    blocks = 2 * ranks["total_rank"].sum() / (k * (k + 1))
    return int(blocks) if blocks >= 1 and blocks == int(blocks) else None


def _rank_warnings(ranks: pl.DataFrame, blocks: int | None) -> Iterator[str]:
    k = len(ranks)
    if "total_rank" in ranks.columns and blocks is not None:
        totals, right = ranks["total_rank"], blocks * k * (k + 1) / 2
        if not totals.has_nulls() and totals.sum() != right:
            yield (
                f"the total ranks add up to {totals.sum():g}; those of {k} competitors in {blocks}"
                f" blocks add up to {right:g}"
            )
        is_possible = totals.is_between(blocks, blocks * k) & (totals * 2 % 1 == 0)
        yield from _impossible(ranks, "total_rank", is_possible)
        if "average_rank" in ranks.columns:
            wrong = list(_wrong(ranks["competitor"], ranks["average_rank"], totals / blocks))
            if wrong:
                yield f"average ranks are the total by {blocks} blocks: {named(wrong)}"
    elif "average_rank" in ranks.columns and not ranks["average_rank"].has_nulls():
        averages, right = ranks["average_rank"], k * (k + 1) / 2
        found, slack = float(averages.sum()), k / 2 * 10.0 ** -_decimals(averages) * (1 + 1e-6)
        if abs(found - right) > slack:
            yield (
                f"the average ranks add up to {found:g}; those of {k} competitors add up to"
                f" {right:g}"
            )
        yield from _impossible(ranks, "average_rank", averages.is_between(1, k))


def _impossible(ranks: pl.DataFrame, column: str, is_possible: pl.Series) -> Iterator[str]:
    wrong = ranks.filter(~is_possible.fill_null(value=True)).select("competitor", column).rows()
    if wrong:
        rows = (f"{name} ({value:g})" for name, value in wrong)
        yield f"impossible as {column.replace('_', ' ')}: {named(rows)}"

"""Competitors that are left out, and how many complete blocks that gives."""

from collections.abc import Sequence

import polars as pl

from podium.analysis.typed_tables.row_filters import near_hint
from podium.errors import PodiumError

_SHOWN = 5


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

    Args:
        cells: at most one row for each block and competitor; a missing score is null, or its row
            absent.
        by: columns that name a block.
        competitor: column of competitors.
        score: column of scores.

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
        f"{complete} of {len(blocks)} blocks hold a score of every competitor; there would be"
        f" {', '.join(parts)} (--without NAME)",
    )

"""Competitors that are left out, and how many complete blocks that gives."""

import difflib
from collections.abc import Sequence

import polars as pl

from podium.errors import PodiumError

_SHOWN = 5


def leave_out(
    frame: pl.DataFrame, names: Sequence[str], *, competitor: str, source: str
) -> pl.DataFrame:
    """The rows of the other competitors.

    Raises:
        PodiumError: the table has no competitor of a name, or no other.
    """
    if not names:
        return frame
    known = [str(name) for name in frame[competitor].unique(maintain_order=True)]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise PodiumError(
                f"--without {name}: {source} has no such competitor; column {competitor!r} holds"
                f" {', '.join(known)}.{hint}"
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
        None where all blocks are complete.
    """
    lacking, num_blocks = _lacking(cells, by=by, competitor=competitor, score=score)
    if not lacking:
        return ()
    complete = num_blocks - len(set().union(*lacking.values()))
    alone = {
        name: num_blocks
        - len(set().union(*(held for other, held in lacking.items() if other != name)))
        for name in lacking
    }
    gains = sorted(
        ((name, count) for name, count in alone.items() if count > complete),
        key=lambda gain: -gain[1],
    )
    parts = [f"{count} without {name}" for name, count in gains[:_SHOWN]]
    if len(lacking) > 1:
        parts.append(f"all {num_blocks} without {', '.join(lacking)}")
    return (
        f"{complete} of {num_blocks} blocks hold a score of every competitor; there would be"
        f" {', '.join(parts)} (--without NAME)",
    )


def _lacking(
    cells: pl.DataFrame, *, by: Sequence[str], competitor: str, score: str
) -> tuple[dict[str, set[int]], int]:
    """The blocks that each competitor lacks, those that lack none left out; number of blocks."""
    blocks = cells.select(by).unique(maintain_order=True).with_row_index("__block")
    names = cells.select(competitor).unique(maintain_order=True)
    if not cells[score].has_nulls() and len(cells) == len(blocks) * len(names):
        return {}, len(blocks)
    scored = cells.drop_nulls(score).select(*by, competitor)
    absent = blocks.join(names, how="cross").join(
        scored, on=[*by, competitor], how="anti", nulls_equal=True
    )
    lacking: dict[str, set[int]] = {}
    for block, name in absent.sort("__block").select("__block", competitor).rows():
        lacking.setdefault(str(name), set()).add(block)
    return lacking, len(blocks)

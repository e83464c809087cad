"""Which blocks and losses a figure shows where it cannot show all."""

import polars as pl

from analysis.study_results.study_results import StudyResults
from analysis.wording import counted

__all__ = ["leading_losses", "losses_note", "panels_note", "spread_blocks"]

_MOST_LINES = 12  # of one panel: beyond that no line can be followed


def spread_blocks(results: StudyResults, having: set[str], most: int) -> list[str]:
    """At most so many blocks, from the one with the lowest mean test score to the highest.

    They are spread evenly over the order of all. Ties are in the order of names; blocks
    without a test score come last, also by name.

    Args:
        results: results of the study.
        having: blocks to choose from.
        most: greatest number of blocks, at least 1.
    """
    is_shown = (pl.col("finalist") == "winner") & (pl.col("k") == results.k)
    levels = (
        results.cells.filter(is_shown)
        .group_by("block")
        .agg(pl.col("score").sort().mean())
        .join(
            pl.DataFrame({"block": sorted(having)}, {"block": pl.String}), on="block", how="right"
        )
        .sort("score", "block", nulls_last=True)
    )
    blocks: list[str] = levels["block"].to_list()
    if len(blocks) <= most:
        return blocks
    if most == 1:
        return [blocks[len(blocks) // 2]]
    step = (len(blocks) - 1) / (most - 1)
    return [blocks[int(step * position + 0.5)] for position in range(most)]


def leading_losses(results: StudyResults, having: set[str], most: int = _MOST_LINES) -> list[str]:
    """At most so many losses: the best of the ranking, or without a ranking the first by name.

    Args:
        results: results of the study.
        having: losses to choose from.
        most: greatest number of losses, at least 1.
    """
    ranked = results.tournament.names if results.tournament else ()
    return [*(name for name in ranked if name in having), *sorted(having - set(ranked))][:most]


def losses_note(shown: int, total: int) -> str:
    """For a caption; empty if all are shown."""
    if shown == total:
        return ""
    return (
        f" {shown} of {total} losses are drawn, the first by average rank (without a ranking by"
        " name); the table has all."
    )


def panels_note(shown: int, total: int) -> str:
    """For a caption; empty if all are shown."""
    if shown == total:
        return ""
    return (
        f" {shown} of {counted(total, 'block')} are drawn, spread evenly from the hardest to the"
        " easiest by mean test score; the table has all."
    )

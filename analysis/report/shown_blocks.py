"""Which blocks and losses a figure shows where it cannot show all."""

import polars as pl

from analysis.study_results.study_results import StudyResults
from analysis.wording import counted

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


def drawn_rows(
    results: StudyResults, rows: pl.DataFrame, *, most_blocks: int
) -> tuple[pl.DataFrame, list[str], str]:
    """The rows that a figure of one panel a block draws of all that its table has.

    Args:
        results: results of the study.
        rows: rows with the columns ``block`` and ``loss``.
        most_blocks: greatest number of panels, at least 1.

    Returns:
        The rows, their losses by name, and sentences for the caption on what is left out.
    """
    blocks, losses = set(rows["block"]), set(rows["loss"])
    shown = spread_blocks(results, blocks, most_blocks)
    leading = _leading_losses(results, losses)
    drawn = rows.filter(pl.col("block").is_in(shown), pl.col("loss").is_in(leading))
    note = _panels_note(len(shown), len(blocks)) + _losses_note(len(leading), len(losses))
    return drawn, sorted(leading), note


def _leading_losses(results: StudyResults, having: set[str]) -> list[str]:
    """At most 12 losses: the best of the ranking, or without a ranking the first by name."""
    ranked = results.tournament.names if results.tournament else ()
    names = [*(name for name in ranked if name in having), *sorted(having - set(ranked))]
    return names[:_MOST_LINES]


def _losses_note(shown: int, total: int) -> str:
    if shown == total:
        return ""
    return (
        f" {shown} of {total} losses are drawn, the first by average rank (without a ranking by"
        " name); the table has all."
    )


def _panels_note(shown: int, total: int) -> str:
    if shown == total:
        return ""
    return (
        f" {shown} of {counted(total, 'block')} are drawn, spread evenly from the hardest to the"
        " easiest by mean test score; the table has all."
    )

"""Which blocks a figure shows where it cannot show all, and how much of each line."""

from collections.abc import Collection

import polars as pl

from podium.analysis.figures.lines import thinned
from podium.analysis.study_results.study_results import StudyResults

_MOST_POINTS = 8_000  # of the lines of one figure, so that a page stays small
_LEAST_POINTS, _MOST_OF_LINE = 6, 300  # of a line


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
    return levels["block"].gather(thinned(levels.height, most)).to_list()


def ranked_losses(results: StudyResults, having: Collection[str]) -> list[str]:
    """The losses, best first; those without a rank last, by name.

    Args:
        results: results of the study.
        having: losses to be ordered.
    """
    ranked = results.tournament.names if results.tournament else ()
    return [*(name for name in ranked if name in having), *sorted(set(having) - set(ranked))]


def points_of_line(num_lines: int) -> int:
    """How many points a line may have in a figure of so many lines."""
    return max(_LEAST_POINTS, min(_MOST_OF_LINE, _MOST_POINTS // max(1, num_lines)))

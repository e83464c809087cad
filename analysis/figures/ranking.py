"""Competitors by average rank: the picture that opens a page."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from podium.analysis.figures.plot import Plot


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """One competitor.

    Attributes:
        name: name of the competitor.
        rank_text: its rank, as is written before its name.
        rank: average rank.
        score: mean score.
        gain: gain over the published default in points; None if unknown.
    """

    name: str
    rank_text: str
    rank: float
    score: float
    gain: float | None


def ranking_plot(
    rows: Sequence[RankedRow],
    *,
    score: str,
    last_rank: int,
    name: str,
) -> Plot:
    """The plot.

    Args:
        rows: competitors shown, best first.
        score: what the scores are, such as ``Recall@1, %``.
        last_rank: last rank of the axis.
        name: name of the plot, unique within the page.
    """
    has_gain = any(row.gain is not None for row in rows)
    return Plot(
        kind="ranking",
        name=name,
        title="Competitors by average rank",
        values={
            "rows": [asdict(row) for row in rows],
            "score": score,
            "gain": "Gain of tuning" if has_gain else None,
            "last": last_rank,
        },
    )

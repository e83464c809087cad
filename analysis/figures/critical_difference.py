"""Nemenyi's critical-difference diagram (Demšar 2006, figure 1) as a list, best at the top."""

from collections.abc import Sequence

from podium.analysis.figures.plot import Plot, rounded


def critical_difference_plot(
    average_ranks: Sequence[tuple[str, float]],
    groups: Sequence[Sequence[str]],
    *,
    critical_difference: float,
    name: str,
) -> Plot:
    """The plot: a line for each competitor, a bracket for each group.

    Args:
        average_ranks: name and average rank of each competitor, best first.
        groups: names of the members of each largest group whose ranks are not that far apart.
        critical_difference: critical difference of average ranks, drawn as a bar above the ranks.
        name: name of the plot, unique within the page.
    """
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in average_ranks)
    same = "; ".join(" and ".join(group) for group in groups) or "none"
    return Plot(
        kind="critical_difference",
        name=name,
        title=f"Critical-difference diagram of Nemenyi. Average ranks, best first: {ranks}."
        f" CD {critical_difference:.2f}. Not significantly different by Nemenyi: {same}.",
        values={
            "names": [name for name, _ in average_ranks],
            "ranks": [rounded(rank) for _, rank in average_ranks],
            "groups": [list(group) for group in groups],
            "test": "Nemenyi",
            "criticalDifference": rounded(critical_difference),
        },
    )

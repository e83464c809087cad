"""Critical-difference diagram (Demšar 2006, figure 1) as a list, best at the top."""

from collections.abc import Sequence

from podium.analysis.figures.plot import Plot, rounded


def critical_difference_plot(
    average_ranks: Sequence[tuple[str, float]],
    groups: Sequence[Sequence[str]],
    *,
    test: str,
    critical_difference: float | None,
    name: str,
    label: str = "",
) -> Plot:
    """The plot: a line for each competitor, a bracket for each group.

    Args:
        average_ranks: name and average rank of each competitor.
        groups: names of the members of each largest group within which the test finds no pair
            significantly different; members need not be neighbours by rank.
        test: name of the test.
        critical_difference: critical difference of average ranks, drawn as a bar above the ranks;
            None for a test that has none.
        name: name of the plot, unique within the page.
        label: what distinguishes it from the other plots of its figure.
    """
    ordered = sorted(average_ranks, key=lambda pair: (pair[1], pair[0]))
    return Plot(
        kind="critical_difference",
        name=name,
        title=f"Critical-difference diagram of {test}",
        description=_description(ordered, groups, test, critical_difference),
        label=label,
        values={
            "names": [name for name, _ in ordered],
            "ranks": [rounded(rank) for _, rank in ordered],
            "groups": [list(group) for group in groups],
            "test": test,
            "criticalDifference": rounded(critical_difference),
        },
    )


def _description(
    ordered: Sequence[tuple[str, float]],
    groups: Sequence[Sequence[str]],
    test: str,
    critical_difference: float | None,
) -> str:
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in ordered)
    same = "; ".join(" and ".join(group) for group in groups) or "none"
    bar = "" if critical_difference is None else f" CD {critical_difference:.2f}."
    return (
        f"Average ranks, best first: {ranks}.{bar} Not significantly different by {test}: {same}."
    )

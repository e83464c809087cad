"""Uncertainty of ranks: intervals over resampled blocks, and the podium without each block."""

from collections import Counter
from collections.abc import Mapping, Sequence

from analysis.figures.estimate import Estimate
from analysis.figures.rank_intervals import RankRow, draw_rank_intervals
from analysis.figures.style import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.tournament.rank_bootstrap import LeaveOneOut, RankBootstrap, RankUncertainty
from analysis.tournament.rank_stability import RankStability
from analysis.wording import counted, listed

_PODIUM = ((1, "first"), (2, "second"), (3, "third"))


def rank_intervals(stability: RankStability, series: Mapping[str, Series]) -> Illustration:
    """The figure with its table."""
    leading = stability.leading
    plot = draw_rank_intervals(
        [
            RankRow(
                series=series[found.competitor],
                rank=Estimate(value=found.average_rank, low=found.low, high=found.high),
                p_first=found.p_first,
                p_top_three=found.p_top_three,
            )
            for found in leading.competitors
        ],
        name="rank-intervals-plot",
    )
    return Illustration(
        name="rank-intervals",
        plots=(plot,),
        caption=f"Average rank with its 95 % percentile interval, and the probabilities of"
        f" rank 1 and of ranks 1 to 3, resampling {stability.resampled} (n ="
        f" {counted(leading.num_blocks, 'block')}){_sensitivity(leading)}.",
        table=_rank_table(stability, series),
    )


def _rank_table(stability: RankStability, series: Mapping[str, Series]) -> Table:
    """The leading bootstrap, and the one by clusters beside it where it is another."""
    shown = [stability.leading]
    if stability.by_cluster is not None and stability.by_cluster is not stability.leading:
        shown.append(stability.by_cluster)
    columns = [*Column.texts("Competitor"), *Column.numbers("Average rank")]
    for bootstrap in shown:
        suffix = "" if len(shown) == 1 else f" ({_resampled(bootstrap, stability)})"
        columns += Column.numbers(f"95 %{suffix}", f"P(first){suffix}", f"P(top 3){suffix}")
    rows = []
    for matching in zip(*(bootstrap.competitors for bootstrap in shown), strict=True):
        cells = [Cell.named(matching[0].competitor, series), Cell.number(matching[0].average_rank)]
        cells += [cell for found in matching for cell in uncertainty_cells(found)]
        rows.append(tuple(cells))
    note = "Resampling whole groups is a sensitivity analysis here: there are too few of them."
    return Table(
        name="rank-intervals-table",
        caption="Average ranks and their uncertainty",
        columns=tuple(columns),
        rows=tuple(rows),
        note=note if len(shown) > 1 else "",
    )


def _sensitivity(bootstrap: RankBootstrap) -> str:
    return "; a sensitivity analysis, no confidence statement" if bootstrap.is_sensitivity else ""


def _resampled(bootstrap: RankBootstrap, stability: RankStability) -> str:
    if bootstrap is stability.by_cluster:
        return counted(bootstrap.num_clusters, "group")
    return f"{bootstrap.num_blocks} blocks"


def uncertainty_cells(found: RankUncertainty) -> tuple[Cell, Cell, Cell]:
    """Interval, P(first) and P(top 3)."""
    return (
        Cell.interval(found.low, found.high),
        Cell.percent(found.p_first),
        Cell.percent(found.p_top_three),
    )


def bootstrap_note(stability: RankStability) -> str:
    """Where interval and probabilities come from, and how far to trust them."""
    leading, clusters = stability.leading, stability.by_cluster
    notes = [
        f"Interval and probabilities: percentile bootstrap over {stability.resampled},"
        f" {leading.replicates:,} resamples."
    ]
    if leading.num_blocks == 1:
        notes.append("They say what other runs of the same block would change, not other blocks.")
    elif clusters is not None and leading is not clusters:
        notes.append(
            "Blocks are resampled as if independent; those of one data set and backbone resemble"
            f" each other, and {_few_groups(clusters.num_clusters)}, so the true"
            " uncertainty is larger."
        )
    if leading.num_blocks > 1 and leading.is_sensitivity:
        notes.append(
            f"With {leading.num_clusters} of them this shows how the order depends on single ones;"
            " it is no confidence statement."
        )
    return " ".join(notes)


def _few_groups(num_groups: int) -> str:
    return "all are of one" if num_groups == 1 else f"there are only {num_groups} such groups"


def left_out_podiums(stability: RankStability) -> tuple[str, ...]:
    """Who takes the first three places when each block, and each group, in turn is left out."""
    places = _PODIUM[: len(stability.leading.competitors)]
    return tuple(
        f"Leaving out one {unit} at a time: {_takers(left_out, places)}."
        for unit, left_out in (
            ("block", stability.leave_one_out),
            ("group of blocks with one data set and backbone", stability.leave_cluster_out),
        )
        if left_out
    )


def _takers(left_out: Sequence[LeaveOneOut], places: Sequence[tuple[int, str]]) -> str:
    phrases = []
    for place, medal in places:
        takers = Counter(
            " and ".join(name for found, name in one.podium if found == place) or "none alone"
            for one in left_out
        )
        counts = sorted(takers.items(), key=lambda item: (-item[1], item[0]))
        if len(counts) == 1:
            phrases.append(f"{counts[0][0]} stays {medal}")
        else:
            split = listed(
                [f"{name} ({'once' if n == 1 else f'{n} times'})" for name, n in counts]
            )
            phrases.append(f"the {medal} place goes to {split}")
    return "; ".join(phrases)

"""Who won: the table of ranks, its uncertainty, and what the tests can tell apart."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from analysis.bootstrap import RankBootstrap, RankUncertainty
from analysis.figures.critical_difference import Cliques, draw_critical_difference
from analysis.figures.estimate import Estimate
from analysis.figures.rank_intervals import draw_rank_intervals
from analysis.figures.style import Series
from analysis.page import Cell, Column, Illustration, Table
from analysis.rank_uncertainty import RankStability
from analysis.sections.pairs import pair_list, pair_matrix
from analysis.tournament import Tournament
from analysis.wording import counted, listed, number, percent, range_of

__all__ = ["Leaderboard", "leaderboard"]

_PLACES = ((1, "first"), (2, "second"), (3, "third"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """The parts of the section; ``diagram`` is None where no critical difference exists."""

    table: Table
    ranks: Illustration
    diagram: Illustration | None
    pair_matrix: Table
    pairs: Table
    podiums: str


def leaderboard(
    tournament: Tournament,
    stability: RankStability,
    series: Mapping[str, Series],
    *,
    metric: str,
    unit: str = "points",
) -> Leaderboard:
    """The section for any tournament.

    Args:
        tournament: scores are shown as they are.
        stability: of the same tournament.
        series: the look of each competitor.
        metric: what the scores are, such as ``Recall@1, %``.
        unit: of a difference of scores.
    """
    return Leaderboard(
        table=_table(tournament, stability, series, metric),
        ranks=_ranks(tournament, stability, series),
        diagram=_diagram(tournament, series),
        pair_matrix=pair_matrix(tournament, series, unit=unit),
        pairs=pair_list(tournament, series, unit=unit),
        podiums=_podiums(stability),
    )


def _table(
    tournament: Tournament, stability: RankStability, series: Mapping[str, Series], metric: str
) -> Table:
    uncertainty = {found.competitor: found for found in stability.leading.competitors}
    labels = ("Place", "Average rank", "95 % interval", "Total", "sd", "Wins", "Top 3")
    tail = (f"Mean {metric}", "P(first)", "P(top 3)")
    rows = []
    for standing in tournament.standings:
        sure = uncertainty[standing.competitor]
        rows.append(
            (
                _name(standing.competitor, series),
                _number(standing.place, 0),
                _number(standing.average_rank),
                Cell(text=range_of(sure.low, sure.high), order=sure.low),
                _number(standing.total_rank, 0 if standing.total_rank.is_integer() else 1),
                _number(standing.rank_std),
                _number(standing.wins, 0),
                _number(standing.top_three, 0),
                _number(standing.mean_score),
                Cell(text=percent(sure.p_first), order=sure.p_first),
                Cell(text=percent(sure.p_top_three), order=sure.p_top_three),
            )
        )
    blocks = counted(len(tournament.blocks), "block")
    left_out = f" {counted(len(tournament.excluded), 'block')} left out." * bool(
        tournament.excluded
    )
    return Table(
        name="leaderboard",
        caption=f"Ranks within {blocks}, 1 is best; ties share their average rank; sd has ddof 1."
        f"{left_out}",
        columns=(Column(label="Competitor", is_number=False), *map(_head, (*labels, *tail))),
        rows=tuple(rows),
        note=_bootstrap_note(stability),
        is_sortable=True,
    )


def _bootstrap_note(stability: RankStability) -> str:
    leading = stability.leading
    count = leading.num_clusters
    note = (
        f"Interval and probabilities: percentile bootstrap over {count} {stability.unit},"
        f" {leading.replicates:,} resamples."
    )
    if leading is not stability.by_cluster and stability.by_cluster is not None:
        note += (
            f" Blocks are resampled as if independent; those of one data set and backbone resemble"
            f" each other, and there are only {stability.by_cluster.num_clusters} such groups, so"
            " the true uncertainty is larger."
        )
    elif leading.is_sensitivity:
        note += (
            f" With {count} of them this shows how the order depends on single ones; it is no"
            " confidence statement."
        )
    return note


def _ranks(
    tournament: Tournament, stability: RankStability, series: Mapping[str, Series]
) -> Illustration:
    leading = stability.leading
    plot = draw_rank_intervals(
        [
            (
                series[found.competitor],
                Estimate(value=found.average_rank, low=found.low, high=found.high),
            )
            for found in leading.competitors
        ],
        name="rank-intervals-plot",
    )
    return Illustration(
        name="rank-intervals",
        plots=(plot,),
        caption=f"Average rank with its 95 % percentile interval over {leading.num_clusters}"
        f" resampled {stability.unit} (n = {counted(len(tournament.blocks), 'block')}).",
        table=_rank_table(stability, series),
    )


def _rank_table(stability: RankStability, series: Mapping[str, Series]) -> Table:
    """The leading bootstrap, and the one by clusters beside it where it is another."""
    shown = [stability.leading]
    if stability.by_cluster is not None and stability.by_cluster is not stability.leading:
        shown.append(stability.by_cluster)
    columns = [Column(label="Competitor", is_number=False), _head("Average rank")]
    for bootstrap in shown:
        suffix = "" if len(shown) == 1 else f" ({_resampled(bootstrap, stability)})"
        columns += [_head(f"{label}{suffix}") for label in ("95 %", "P(first)", "P(top 3)")]
    rows = []
    for matching in zip(*(bootstrap.competitors for bootstrap in shown), strict=True):
        cells = [_name(matching[0].competitor, series), _number(matching[0].average_rank)]
        cells += [cell for found in matching for cell in _uncertainty_cells(found)]
        rows.append(tuple(cells))
    note = "Resampling whole groups is a check of sensitivity here: there are too few of them."
    return Table(
        name="rank-intervals-table",
        caption="Average ranks and how sure they are",
        columns=tuple(columns),
        rows=tuple(rows),
        note=note if len(shown) > 1 else "",
    )


def _resampled(bootstrap: RankBootstrap, stability: RankStability) -> str:
    if bootstrap is stability.by_cluster:
        return f"{bootstrap.num_clusters} groups"
    return f"{bootstrap.num_blocks} blocks"


def _uncertainty_cells(found: RankUncertainty) -> tuple[Cell, Cell, Cell]:
    return (
        Cell(text=range_of(found.low, found.high), order=found.low),
        Cell(text=percent(found.p_first), order=found.p_first),
        Cell(text=percent(found.p_top_three), order=found.p_top_three),
    )


def _diagram(tournament: Tournament, series: Mapping[str, Series]) -> Illustration | None:
    if tournament.critical_difference is None:
        return None
    plot = draw_critical_difference(
        [(series[s.competitor], s.average_rank) for s in tournament.standings],
        critical_difference=tournament.critical_difference,
        cliques=(
            Cliques(test="Wilcoxon–Holm", groups=tournament.groups),
            Cliques(test="Nemenyi", groups=tournament.nemenyi_groups),
        ),
        name="critical-difference-plot",
    )
    level = f"{100 * tournament.alpha:g} %"
    return Illustration(
        name="critical-difference",
        plots=(plot,),
        caption=f"Critical-difference diagram over {counted(len(tournament.blocks), 'block')},"
        f" best at the left. CD is Nemenyi's critical difference at {level}. Dots on one line are"
        " competitors that the test cannot tell apart; dotted stretches pass over competitors that"
        " do not belong.",
    )


def _podiums(stability: RankStability) -> str:
    """How the first three places fare when each block in turn is left out."""
    left_out = stability.leave_one_out
    if not left_out:
        return ""
    sentences = []
    for place, medal in _PLACES[: len(stability.leading.competitors)]:
        takers = Counter(
            " and ".join(name for found, name in one.podium if found == place) or "nobody alone"
            for one in left_out
        )
        counts = sorted(takers.items(), key=lambda item: (-item[1], item[0]))
        if len(counts) == 1:
            sentences.append(f"{counts[0][0]} stays {medal}")
        else:
            split = listed([f"{name} ({count} times)" for name, count in counts])
            sentences.append(f"the {medal} place goes to {split}")
    return f"Leaving out one block at a time: {'; '.join(sentences)}."


def _name(competitor: str, series: Mapping[str, Series]) -> Cell:
    return Cell(text=competitor, series=series[competitor], order=competitor)


def _number(value: float | None, digits: int = 2) -> Cell:
    return Cell(text=number(value, digits), order=value)


def _head(label: str) -> Column:
    return Column(label=label)

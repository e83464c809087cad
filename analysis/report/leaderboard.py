"""Who won: the table of ranks, its uncertainty, and what the tests can tell apart."""

from collections.abc import Mapping, Sequence

from analysis.figures.critical_difference import Cliques, draw_critical_difference
from analysis.figures.style import Series
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Part,
    Section,
    Table,
)
from analysis.report.fairness import beside
from analysis.report.pairwise_comparisons import pair_figure, pair_list
from analysis.report.rank_intervals import (
    bootstrap_note,
    left_out_podiums,
    rank_intervals,
    uncertainty_cells,
)
from analysis.study_results.study_results import StudyResults
from analysis.tournament.medals import shared_places
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.wording import MOST_NAMED, counted, listed, number, range_of
from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.tournament_rules import TEST_LABELS

__all__ = ["difference_parts", "differences", "rank_parts", "ranking"]

_NO_DIAGRAM = "A critical difference needs at least three competitors and two blocks."


def rank_parts(
    tournament: Tournament,
    stability: RankStability | None,
    series: Mapping[str, Series],
    *,
    metric: str,
    aside: Sequence[Part] = (),
) -> tuple[Part, ...]:
    """The table of places, and how sure they are.

    Args:
        tournament: scores are shown as they are.
        stability: of the same tournament; None with a single block.
        series: the look of each competitor.
        metric: what the scores are, such as ``Recall@1, %``.
        aside: what has to stand beside the comparison.
    """
    podiums = left_out_podiums(stability) if stability else ()
    return (
        _table(tournament, stability, series, metric),
        *aside,
        *((rank_intervals(stability, series),) if stability else ()),
        *(Paragraph(text=podium) for podium in podiums),
    )


def difference_parts(
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    unit: str = "points",
    fairness: Fairness | None = None,
    aside: Sequence[Part] = (),
) -> tuple[Part, ...]:
    """What the tests can tell apart.

    Args:
        tournament: scores are shown as they are.
        series: the look of each competitor.
        unit: of a difference of scores.
        fairness: of the study that was ranked; None for a table of scores.
        aside: what has to stand beside the comparison.
    """
    pairs = pair_list(tournament, series, unit=unit, fairness=fairness)
    return (
        _diagram(tournament, series) or Paragraph(text=_NO_DIAGRAM),
        pair_figure(tournament, series, unit=unit),
        *aside,
        Fold(summary="Every pair, with wins and the other tests", parts=(pairs,)),
    )


def _table(
    tournament: Tournament,
    stability: RankStability | None,
    series: Mapping[str, Series],
    metric: str,
) -> Table:
    labels = [
        "Place",
        "Average rank",
        "Total",
        "sd",
        "Wins",
        "Top\N{NO-BREAK SPACE}3",
        f"Mean {metric}",
    ]
    shared = shared_places(tournament, stability)
    rows = [
        [
            Cell(
                text=standing.competitor,
                series=series[standing.competitor],
                order=standing.competitor,
            ),
            Cell(
                text=str(standing.place),
                detail="shared" if standing.competitor in shared else "",
                order=standing.place,
            ),
            _number(standing.average_rank),
            _number(standing.total_rank, 0 if standing.total_rank.is_integer() else 1),
            _number(standing.rank_std),
            _number(standing.wins, 0),
            _number(standing.top_three, 0),
            _number(standing.mean_score),
        ]
        for standing in tournament.standings
    ]
    if stability:
        labels[2:2] = ["95\N{NO-BREAK SPACE}% interval"]
        labels += ["P(first)", "P(top\N{NO-BREAK SPACE}3)"]
        for row, found in zip(rows, stability.leading.competitors, strict=True):
            interval, *probabilities = uncertainty_cells(found)
            row[3:3] = [interval]
            row += probabilities
    blocks = counted(len(tournament.blocks), "block")
    left_out = counted(len(tournament.excluded), "block")
    return Table(
        name="leaderboard",
        caption=f"Ranks within {blocks}, 1 is best; ties share their average rank; sd has ddof 1."
        + (f" {left_out} left out." if tournament.excluded else ""),
        columns=(
            Column(label="Competitor", is_number=False),
            *(Column(label=label) for label in labels),
        ),
        rows=tuple(map(tuple, rows)),
        note=" ".join(
            filter(None, (_shared_note(shared), bootstrap_note(stability) if stability else ""))
        ),
        is_sortable=True,
    )


def _shared_note(shared: Mapping[str, Sequence[str]]) -> str:
    """With whom each shared place is shared."""
    if not shared:
        return ""
    named = "; ".join(
        f"{name} with {listed(others, most=MOST_NAMED)}" for name, others in shared.items()
    )
    return (
        f"Shared places: {named}. A place is shared unless the test tells its holder from everyone"
        " behind, it is kept in 95 % of the resamples, and no single block or group decides it."
    )


def _diagram(tournament: Tournament, series: Mapping[str, Series]) -> Illustration | None:
    if tournament.critical_difference is None:
        return None
    cliques = [Cliques(test=TEST_LABELS[tournament.test], groups=tournament.groups)]
    if tournament.test != "nemenyi":
        cliques.append(Cliques(test=TEST_LABELS["nemenyi"], groups=tournament.nemenyi_groups))
    plot = draw_critical_difference(
        [(series[s.competitor], s.average_rank) for s in tournament.standings],
        critical_difference=tournament.critical_difference,
        cliques=cliques,
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
        table=_group_table(cliques, tournament),
    )


def _group_table(cliques: Sequence[Cliques], tournament: Tournament) -> Table:
    """The groups that the diagram draws, with the ranks they span."""
    ranks = {standing.competitor: standing.average_rank for standing in tournament.standings}
    rows = [
        (
            Cell(text=test.test, order=test.test),
            Cell(text=listed(group), order=listed(group)),
            _number(len(group), 0),
            Cell(
                text=range_of(ranks[group[0]], ranks[group[-1]]),
                order=ranks[group[-1]] - ranks[group[0]],
            ),
        )
        for test in cliques
        for group in test.groups
    ]
    return Table(
        name="groups",
        caption="Groups in which no pair differs, as large as possible, at"
        f" {100 * tournament.alpha:g} %",
        columns=(
            Column(label="Test", is_number=False),
            Column(label="Not told apart", is_number=False),
            Column(label="Members"),
            Column(label="Average ranks"),
        ),
        rows=tuple(rows),
        note="" if rows else "Every pair differs.",
    )


def _number(value: float | None, digits: int = 2) -> Cell:
    return Cell(text=number(value, digits), order=value)


def ranking(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The table of places with its uncertainty, or why there is none."""
    if results.tournament:
        parts = rank_parts(
            results.tournament,
            results.stability,
            series,
            metric=f"{results.metric},\N{NO-BREAK SPACE}%",
            aside=beside(results),
        )
    else:
        parts = (Paragraph(text=f"There is no ranking: {results.no_tournament}."),)
    return Section(name="ranking", title="Leaderboard", label="Leaderboard", parts=parts)


def differences(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """What the tests can tell apart."""
    if results.tournament:
        parts = difference_parts(
            results.tournament, series, fairness=results.fairness, aside=beside(results)
        )
    else:
        parts = (Paragraph(text="Without a ranking there is nothing to test."),)
    return Section(
        name="differences", title="Which differences hold", label="Differences", parts=parts
    )

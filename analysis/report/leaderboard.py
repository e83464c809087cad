"""The leaderboard: the table of ranks and its uncertainty."""

from collections.abc import Mapping, Sequence

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Paragraph, Part, Section, Table
from analysis.report.all_blocks import all_blocks
from analysis.report.fairness import fairness_note
from analysis.report.rank_intervals import (
    bootstrap_note,
    left_out_podiums,
    uncertainty_cells,
)
from analysis.report.summary import rank_cell
from analysis.study_results.study_results import StudyResults
from analysis.tournament.medals import rank_ranges, shared_places
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.wording import MOST_NAMED, counted, listed

_MEDALS = 3  # ranks whose rivals are named below the table


def leaderboard(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section of a study: the table of ranks with its uncertainty, or why there is none."""
    if results.tournament:
        parts = rank_parts(
            results.tournament,
            results.stability,
            series,
            metric=f"{results.ranked_by.label},\N{NO-BREAK SPACE}%",
            aside=fairness_note(results),
        )
    else:
        parts = (Paragraph(text=f"There is no ranking: {results.no_tournament_reason}."),)
    return Section(name="ranking", title="Leaderboard", parts=parts)


def rank_parts(
    tournament: Tournament,
    stability: RankStability | None,
    series: Mapping[str, Series],
    *,
    metric: str,
    aside: Sequence[Part] = (),
) -> tuple[Part, ...]:
    """The table of ranks, and the first three without each block.

    Where blocks lack scores, the order over all of them comes first.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        stability: stability of its ranks; None with a single block.
        series: look of each competitor.
        metric: what the scores are, such as ``Recall@1, %``.
        aside: parts to be put below the table.
    """
    podiums = left_out_podiums(stability) if stability else ()
    return (
        *all_blocks(tournament, series),
        _table(tournament, stability, series, metric),
        *aside,
        *(Paragraph(text=podium, style="note") for podium in podiums),
    )


def _table(
    tournament: Tournament,
    stability: RankStability | None,
    series: Mapping[str, Series],
    metric: str,
) -> Table:
    labels = [
        "Rank",
        "Average rank",
        "Total",
        "sd",
        "Wins",
        "Top\N{NO-BREAK SPACE}3",
        f"Mean {metric}",
    ]
    ranges = rank_ranges(tournament, stability)
    rows = [
        [
            Cell.named(standing.competitor, series),
            rank_cell(standing, ranges),
            Cell.number(standing.average_rank),
            Cell.number(standing.total_rank, 0 if standing.total_rank.is_integer() else 1),
            Cell.number(standing.rank_std),
            Cell.number(standing.wins, 0),
            Cell.number(standing.top_three, 0),
            Cell.number(standing.mean_score),
        ]
        for standing in tournament.standings
    ]
    if stability:
        labels[2:2] = ["95\N{NO-BREAK SPACE}% interval"]
        labels += ["P(first)", "P(top\N{NO-BREAK SPACE}3)"]
        for row, found in zip(rows, stability.bootstrap.competitors, strict=True):
            interval, *probabilities = uncertainty_cells(found)
            row[3:3] = [interval]
            row += probabilities
    blocks = counted(len(tournament.blocks), "block")
    left_out = counted(len(tournament.excluded), "block")
    return Table(
        name="leaderboard",
        caption=f"Ranks within {blocks}, 1 is best; ties share their average rank; sd is the"
        " sample standard deviation." + (f" {left_out} left out." if tournament.excluded else ""),
        columns=(
            *Column.texts("Competitor"),
            *Column.numbers(*labels),
        ),
        rows=tuple(map(tuple, rows)),
        note=" ".join(
            filter(
                None,
                (
                    _shared_note(tournament, shared_places(tournament, stability)),
                    bootstrap_note(stability) if stability else "",
                ),
            )
        ),
        is_sortable=True,
    )


def _shared_note(tournament: Tournament, shared: Mapping[str, Sequence[str]]) -> str:
    """With whom each of the first three ranks is shared, and when a rank is; empty if none."""
    if not shared:
        return ""
    named = "; ".join(
        f"{standing.competitor} with {listed(shared[standing.competitor], most=MOST_NAMED)}"
        for standing in tournament.standings
        if standing.place <= _MEDALS and standing.competitor in shared
    )
    decided = (
        f", keeps it in 95 % of the resamples, and no single {tournament.units.one} decides it"
        if tournament.question == "other_blocks"
        else " and keeps it in 95 % of the resamples"
    )
    return (
        f"{f'Shared ranks: {named}. ' if named else ''}A rank is shared unless its holder"
        f" differs significantly from all behind it{decided}."
    )

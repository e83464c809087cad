"""The leaderboard: ranks over all blocks, and groups of losses."""

from collections.abc import Iterator, Mapping

from podium.analysis.estimates.confidence_intervals import Interval
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.report.fairness import fairness_note
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.loss_groups import LossGroups
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import MOST_NAMED, counted, listed, number, range_of, signed


def leaderboard(
    results: StudyResults | TableResults, series: Mapping[str, Series]
) -> Section | None:
    """Ranks, below the order over all blocks where some lack scores; None without a ranking."""
    held = results.tournament
    if held is None:
        return None
    parts: list[Part] = [*rank_tables(held, series, results.score_shown)]
    if isinstance(results, StudyResults):
        parts += fairness_note(results)
    return Section(name="ranking", title="Leaderboard", parts=tuple(parts))


def rank_tables(
    tournament: Tournament, series: Mapping[str, Series], score: str, factor: float = 1
) -> Iterator[Table]:
    """The order over all blocks, where some lack scores, and the ranks over the others.

    Args:
        tournament: the tournament.
        series: look of each competitor; without a look names have no marker.
        score: what the scores are, such as ``Recall@1, %``.
        factor: factor from the unit of the tournament to that.
    """
    yield from _all_blocks(tournament, series)
    yield _table(tournament, series, score, factor)


def _table(
    tournament: Tournament, series: Mapping[str, Series], score: str, factor: float
) -> Table:
    left_out = counted(len(tournament.excluded), "setting")
    has_deviation = len(tournament.blocks) > 1
    return table(
        tournament.standings,
        (
            Column.named("Competitor", "competitor", series),
            Column.number("Rank", "place", 0),
            Column.number("Average rank", "average_rank"),
            Column.number(
                "Total",
                "total_rank",
                write=lambda rank, _: number(rank, 0 if float(rank or 0).is_integer() else 1),
            ),
            Column.number("sd", "rank_std") if has_deviation else None,
            Column.number("Wins", "wins", 0),
            Column.number("Top\N{NO-BREAK SPACE}3", "top_three", 0),
            Column.number(f"Mean {score}", "mean_score", factor=factor),
        ),
        name="leaderboard",
        caption=f"Ranks within {counted(len(tournament.blocks), 'setting')}, 1 is best; ties share"
        f" their average rank{'; sd is the sample standard deviation' if has_deviation else ''}."
        + (f" {left_out} left out." if tournament.excluded else ""),
    )


def _all_blocks(tournament: Tournament, series: Mapping[str, Series]) -> Iterator[Table]:
    """The order over all blocks, where some lack scores and the ranking leaves them out."""
    if not tournament.available:
        return
    yield table(
        tournament.available,
        (
            Column.named("Competitor", "competitor", series),
            Column.number("Rank sum", "rank_sum"),
            Column.number("Beaten by", "beaten_by"),
            Column.count("Settings", "num_blocks"),
        ),
        name="available-ranks",
        caption=f"All settings, also the {counted(len(tournament.excluded), 'setting')} left out"
        " of the ranking for missing scores",
        note="Rank sum: of ranks around the middle one, the lowest is first; a missing score"
        " counts as the middle. Beaten by: mean share of the others present that are better, 0 is"
        " first.",
    )


def loss_groups(
    results: StudyResults | TableResults, series: Mapping[str, Series]
) -> Section | None:
    """The section; None without two groups of ranked losses, or of a table unless asked for."""
    found, tournament, shown = results.loss_groups, results.tournament, results.score_shown
    if found is None or tournament is None:
        return None
    sentences = _group_sentences(found, tournament, f"points of {shown.removesuffix(', %')}")
    groups = table(
        found.groups,
        (
            Column.text("Group", "name"),
            Column.count("Losses", lambda group: len(group.members)),
            Column.number("Mean rank", "rank.estimate"),
            Column.interval("95 % of the rank", "rank.low", "rank.high"),
            Column.number(f"Mean {shown}", "score.estimate"),
            Column.interval("95 % of the mean", "score.low", "score.high"),
            Column.named("Best loss", lambda group: group.members[0], series),
            Column.number(f"Its mean {shown}", "best_score"),
        ),
        name="loss-groups-table",
        caption="Groups of losses: mean rank and mean score of their losses over"
        f" {counted(len(tournament.blocks), 'setting')}",
    )
    return Section(
        name="loss-groups",
        title="Groups of losses",
        parts=(*(Paragraph(text=text) for text in sentences), groups),
    )


def _group_sentences(found: LossGroups, tournament: Tournament, gap: str) -> Iterator[str]:
    yield " ".join(_difference_text(*item, gap) for item in found.differences)
    units = tournament.block_units
    yield (
        units.why_untested
        or f"Intervals are Student's over {units.counted}, for the losses that are here, not for"
        " other losses of a group."
    )
    if found.ungrouped:
        yield f"In no group: {listed(found.ungrouped, most=MOST_NAMED)}."


def _difference_text(better: str, other: str, mean: Interval, gap: str) -> str:
    interval = "" if mean.low is None else f" ({range_of(mean.low, mean.high)})"
    return f"{better} minus {other}: {signed(mean.estimate)} {gap}{interval} on average."

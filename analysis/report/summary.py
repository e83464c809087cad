"""The first screen of a page: the verdict, three facts, and the competitors by average rank."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analysis.estimates.ranks import Standing
from analysis.figures.ranking import RankedRow, ranking_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fact, Illustration, Summary, Table
from analysis.report.one_loss import one_loss_summary
from analysis.report.protocol_summary import protocol_summary
from analysis.report.verdict import (
    answer_headline,
    answer_sentences,
    headline,
    notices,
    short_verdict,
)
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.tournament.medals import rank_ranges
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import verdict_sentences
from analysis.wording import counted, number, percent, signed

_MOST_ROWS = 16  # of competitors that the picture of the summary draws
_MOST_LEADERS = 5  # of the small leaderboard


def study_summary(results: StudyResults, series: Mapping[str, Series]) -> Summary:
    """The summary of a study, of its protocols first where it compares several.

    Without a ranking it says why, and what there is so far.
    """
    of_losses = _summary_of_losses(results, series)
    if len(results.protocols) < 2:
        return of_losses
    return protocol_summary(results, of_losses) or of_losses


def _summary_of_losses(results: StudyResults, series: Mapping[str, Series]) -> Summary:
    tournament, stability = results.tournament, results.stability
    metric = results.ranked_by.label
    trials = Fact(value=f"{results.trials.height:,}", label="trials of searches and finals")
    said = Summary(
        verdict=answer_headline(results),
        headline=answer_headline(results),
        facts=(trials,),
        sentences=answer_sentences(results),
        notices=notices(results),
    )
    if tournament is None:
        return one_loss_summary(results, series, said) or said
    return replace(
        said,
        verdict=short_verdict(tournament, stability),
        facts=(*_facts(tournament, stability, metric), trials),
        picture=_picture(tournament, stability, score=f"{metric}, %", gains=_gains(results)),
        leaderboard=_leaders(tournament, stability, series),
    )


def _gains(results: StudyResults) -> dict[str, float]:
    """Loss -> gain of tuning in points; empty where losses are ranked by another score."""
    if results.ranked_by != results.own_score:
        return {}
    rows = results.overall.drop_nulls("gain").to_dicts()
    return {row["loss"]: PERCENT * row["gain"] for row in rows}


def table_summary(results: TableResults, series: Mapping[str, Series]) -> Summary:
    """The summary of a published table."""
    tournament, stability = results.tournament, results.stability
    return Summary(
        verdict=short_verdict(tournament, stability),
        headline=headline(tournament, stability, metric=results.score),
        facts=(
            *_facts(tournament, stability, results.score),
            Fact(
                value=f"{len(tournament.names)} × {len(tournament.blocks)}",
                label="competitors × blocks with all scores",
            ),
        ),
        picture=_picture(tournament, stability, score=results.score, gains={}),
        leaderboard=_leaders(tournament, stability, series),
        sentences=tuple(verdict_sentences(tournament, stability)),
        notices=results.table.warnings,
    )


def _facts(tournament: Tournament, stability: RankStability | None, metric: str) -> Iterator[Fact]:
    """The lead of the first over the second, and what speaks for the first."""
    winner, second, *_ = tournament.standings
    gap = winner.mean_score - second.mean_score
    yield Fact(
        value=signed(gap, 1),
        label=f"points of {metric}: {winner.competitor} minus {second.competitor}",
    )
    if not tournament.can_differ:
        label = f"blocks in which {winner.competitor} is best"
        yield Fact(value=f"{winner.wins} of {winner.blocks}", label=label)
    elif stability:
        first = stability.bootstrap.competitors[0]
        yield Fact(value=percent(first.p_first), label="probability of rank 1, by resampling")
    else:
        yield Fact(value=number(winner.average_rank), label="average rank of the first")


def _picture(
    tournament: Tournament,
    stability: RankStability | None,
    *,
    score: str,
    gains: Mapping[str, float],
) -> Illustration:
    intervals = (
        {found.competitor: (found.low, found.high) for found in stability.bootstrap.competitors}
        if stability
        else {}
    )
    rows = [
        RankedRow(
            name=standing.competitor,
            rank_text=str(standing.place),
            rank=standing.average_rank,
            low=intervals.get(standing.competitor, (None, None))[0],
            high=intervals.get(standing.competitor, (None, None))[1],
            score=standing.mean_score,
            gain=gains.get(standing.competitor),
        )
        for standing in tournament.standings[:_MOST_ROWS]
    ]
    shown = [row.name for row in rows]
    count = len(tournament.names)
    last = count if count == len(rows) else max(row.high or row.rank for row in rows)
    brackets = _brackets(tournament, shown)
    plot = ranking_plot(
        rows,
        brackets,
        score=score,
        last_rank=math.ceil(last),
        name="summary-ranking-plot",
    )
    first = "" if count == len(rows) else f" of the first {len(rows)} of {count}"
    return Illustration(
        name="summary-ranking",
        plots=(plot,),
        caption=f"Average rank{first} over {counted(len(tournament.blocks), 'block')}"
        f"{' with 95 % intervals' if any(row.low is not None for row in rows) else ''}"
        f"{'; brackets join competitors that do not differ significantly' if brackets else ''}.",
        table=_numbers(rows, score),
    )


def _brackets(tournament: Tournament, shown: Sequence[str]) -> list[list[str]]:
    """The groups of at least two of the competitors shown, each once."""
    groups = tournament.groups if tournament.can_differ else (tournament.names,)
    within = [tuple(name for name in shown if name in group) for group in groups]
    return [list(group) for group in dict.fromkeys(within) if len(group) > 1]


def _numbers(rows: Sequence[RankedRow], score: str) -> Table:
    """What the picture shows, without columns in which nothing is known."""
    has_intervals = any(row.low is not None for row in rows)
    has_gains = any(row.gain is not None for row in rows)
    return Table(
        name="summary-ranking-table",
        caption="The numbers of the picture",
        columns=(
            *Column.texts("Competitor"),
            Column(label="Average rank"),
            *([Column(label="95 % interval", least_first=True)] if has_intervals else ()),
            Column(label=score),
            *([Column(label="Gain of tuning, points")] if has_gains else ()),
        ),
        rows=tuple(
            (
                Cell.word(row.name),
                Cell.number(row.rank),
                *([Cell.interval(row.low, row.high)] if has_intervals else ()),
                Cell.number(row.score),
                *([Cell.signed(row.gain)] if has_gains else ()),
            )
            for row in rows
        ),
    )


def _leaders(
    tournament: Tournament, stability: RankStability | None, series: Mapping[str, Series]
) -> Table:
    """The first competitors, as in the whole leaderboard."""
    first, count = tournament.standings[:_MOST_LEADERS], len(tournament.names)
    ranges = rank_ranges(tournament, stability)
    who = "All competitors" if len(first) == count else f"The first {len(first)} of {count}"
    is_open = any(len(ranges[standing.competitor]) > 1 for standing in first)
    return Table(
        name="leaders",
        caption=f"{who}{'; of ranks such as 2–3 the order is not decided' if is_open else ''}",
        columns=(
            *Column.texts("Competitor"),
            Column(label="Rank"),
            Column(label="Average rank"),
            Column(label="Wins"),
        ),
        rows=tuple(
            (
                Cell.named(standing.competitor, series),
                rank_cell(standing, ranges),
                Cell.number(standing.average_rank),
                Cell.number(standing.wins, 0),
            )
            for standing in first
        ),
    )


def rank_cell(standing: Standing, ranges: Mapping[str, range]) -> Cell:
    """A rank, or the range of those that share it: ``2–3``."""
    held = ranges[standing.competitor]
    return Cell(text="–".join(map(str, dict.fromkeys((held[0], held[-1])))), order=standing.place)

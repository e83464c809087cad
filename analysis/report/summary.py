"""The first screen of a page: the verdict, three facts, and the competitors by average rank."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from podium.analysis.estimates.ranks import Standing
from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Illustration, Summary
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.report.protocol_summary import protocol_summary
from podium.analysis.report.verdict import answer_headline, answer_sentences, notices
from podium.analysis.scores.final_scores import BASELINES
from podium.analysis.scores.gpu_shares import has_gpus
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.tournament.verdict_text import headline, verdict_sentences
from podium.analysis.wording import (
    MOST_NAMED,
    counted,
    duration,
    listed,
    number,
    own_names,
    signed,
)

_MOST_ROWS = 16  # of competitors that the picture of the summary draws
_MOST_LEADERS = 5  # of the small leaderboard
_LEVELS = {
    "tuned": "test_winner",
    "published default": "test_default",
    **{name: f"test_{name}" for name in BASELINES},
}


def study_summary(results: StudyResults, series: Mapping[str, Series]) -> Summary:
    """The summary of a study, of its protocols first where it compares several.

    Without a ranking it says why, and what there is so far.
    """
    of_losses = _summary_of_losses(results, series)
    if len(results.protocols) < 2:
        return of_losses
    return protocol_summary(results, of_losses) or of_losses


def _summary_of_losses(results: StudyResults, series: Mapping[str, Series]) -> Summary:
    tournament = results.tournament
    metric = results.ranked_by.label
    attempts = results.attempts
    spent = duration(float(attempts["gpu_seconds"].sum()))
    unit = "GPU time" if has_gpus(results.study) else "training"
    cost = (f"{attempts['trial'].n_unique():,}", f"trials that took {spent} of {unit}")
    said = Summary(
        verdict=answer_headline(results),
        facts=(cost,),
        sentences=answer_sentences(results),
        notices=notices(results),
    )
    if tournament is None:
        return _one_loss_summary(results, said) or said
    return replace(
        said,
        facts=(*_facts(tournament, metric), cost),
        picture=_picture(tournament, score=f"{metric}, %", gains=_gains(results)),
        leaderboard=_leaders(
            tournament, series, f"{metric}, %", own=own_names(results.reader.shown)
        ),
    )


def _gains(results: StudyResults) -> dict[str, float]:
    """Loss -> gain of tuning in points; empty where losses are ranked by another score."""
    if results.ranked_by != results.own_score:
        return {}
    rows = results.overall.drop_nulls("gain").to_dicts()
    return {row["loss"]: PERCENT * row["gain"] for row in rows}


def table_summary(results: TableResults, series: Mapping[str, Series]) -> Summary:
    """The summary of a published table."""
    tournament = results.tournament
    return Summary(
        verdict=headline(tournament, metric=results.score),
        facts=(
            *_facts(tournament, results.score),
            (
                f"{len(tournament.names)} × {len(tournament.blocks)}",
                "competitors × settings with all scores",
            ),
        ),
        picture=_picture(tournament, score=results.score, gains={}),
        leaderboard=_leaders(tournament, series, results.score),
        sentences=tuple(verdict_sentences(tournament)),
        notices=results.table.warnings,
    )


def _facts(tournament: Tournament, metric: str) -> Iterator[tuple[str, str]]:
    """The lead of the first over the second, and how often the first is best."""
    winner, second, *_ = tournament.standings
    gap = winner.mean_score - second.mean_score
    yield (
        signed(gap, 1),
        f"points of {metric}: {winner.competitor} minus {second.competitor}",
    )
    if winner.blocks > 1:
        label = f"settings in which {winner.competitor} is best"
        yield (f"{winner.wins} of {winner.blocks}", label)


def _picture(tournament: Tournament, *, score: str, gains: Mapping[str, float]) -> Illustration:
    rows = tournament.standings[:_MOST_ROWS]
    count = len(tournament.names)
    last = count if count == len(rows) else max(row.average_rank for row in rows)
    shown = [
        {
            "name": row.competitor,
            "rank_text": str(row.place),
            "rank": row.average_rank,
            "score": row.mean_score,
            "gain": gains.get(row.competitor),
        }
        for row in rows
    ]
    has_gain = any(row["gain"] is not None for row in shown)
    plot = Plot(
        kind="ranking",
        name="summary-ranking-plot",
        title="Competitors by average rank",
        values={
            "rows": shown,
            "score": score,
            "gain": "Gain of tuning" if has_gain else None,
            "last": math.ceil(last),
        },
    )
    first = "" if count == len(rows) else f" of the first {len(rows)} of {count}"
    return Illustration(
        name="summary-ranking",
        plots=(plot,),
        caption=f"Average rank{first} over {counted(len(tournament.blocks), 'setting')}.",
    )


def _leaders(
    tournament: Tournament, series: Mapping[str, Series], score: str, *, own: Sequence[str] = ()
) -> Table:
    """The first competitors: their mean scores, and how far they are behind the first.

    Args:
        tournament: the ranking.
        series: look of each competitor.
        score: name of the score in a head.
        own: shown names of losses in files of one's own, which the caption names.
    """
    first, count = tournament.standings[:_MOST_LEADERS], len(tournament.names)
    who = "All competitors" if len(first) == count else f"The first {len(first)} of {count}"
    behind = {pair.b: pair for pair in tournament.pairs if pair.a == tournament.names[0]}
    is_sure = any(pair.low is not None for pair in behind.values())
    level = f"{100 * (1 - tournament.rules.alpha):g} %"
    yours = f"; yours: {listed(own, most=MOST_NAMED)}" if own else ""
    below = f"; below a difference its {level} interval, over {tournament.units.counted}"

    def of_pair(name: str) -> Callable[[Standing], float | None]:
        return lambda it: getattr(behind.get(it.competitor), name, None)

    leaders = table(
        first,
        (
            Column.named("Competitor", "competitor", series),
            Column.number("Rank", "place", 0),
            Column.number(f"Mean {score}", "mean_score"),
            Column.signed(
                "Minus first",
                of_pair("mean_difference"),
                factor=-1,
                below=(of_pair("high"), of_pair("low")),
            ),
        ),
        name="leaders",
        caption=f"{who}{yours}{below if is_sure else ''}",
    )
    return leaders.filled() or leaders


def _one_loss_summary(results: StudyResults, said: Summary) -> Summary | None:
    """The summary with the scores of the one loss; None of several, or before a test."""
    tested = results.selection.drop_nulls("test_winner")
    if len(results.losses) != 1 or tested.is_empty():
        return None
    (loss,), blocks = results.losses, counted(len(tested), "setting")
    mean = number(_mean(tested, "test_winner"), 1)
    gain = results.overall.row(0, named=True)
    facts = [(mean, f"{results.metric} in %, mean over {blocks}")]
    if gain["gain"] is not None:
        facts.append((signed(PERCENT * gain["gain"], 1), "points of it gained by tuning"))
    return replace(
        said,
        verdict=f"{loss} reaches a {results.metric} of {mean} % over {blocks};"
        " there is no other loss to rank it with.",
        facts=(*facts, *said.facts),
        leaderboard=_levels(tested, results.metric),
    )


def _mean(tested: pl.DataFrame, column: str) -> float | None:
    """Mean over blocks in percent; None where a block lacks it."""
    values = tested[column].to_list()
    return None if None in values else PERCENT * sum(values) / len(values)


def _levels(tested: pl.DataFrame, metric: str) -> Table:
    """Tuned, at its default and the baselines, as means over blocks."""
    means = {name: _mean(tested, column) for name, column in _LEVELS.items()}
    return table(
        [(name, mean) for name, mean in means.items() if mean is not None],
        (Column.text("Config", 0), Column.number(f"{metric}, %", 1)),
        name="levels",
        caption=f"Means over {counted(len(tested), 'setting')}",
    )

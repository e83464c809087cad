"""The answer of a comparison: one loss against each opponent, and how sure that is.

All numbers are those of the study's tournament; nothing is tested here that it does not test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from podium.analysis.estimates.confidence_intervals import t_interval
from podium.analysis.estimates.t_test_power import pairs_needed
from podium.analysis.page.html_page import Fact, Page
from podium.analysis.page.tables import Column, table
from podium.analysis.report.verdict import failed_sentence, gain_sentences
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.primary_test_text import needed_text
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import (
    counted,
    listed,
    number,
    p_equals,
    range_of,
    signed,
)
from podium.terminal.fitting_table import terminal_width, whole_table
from podium.terminal.printing import paragraphs

_MOST_FACTS = 3  # differences in large figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The loss minus one opponent, in points of the score that losses are ranked by.

    Attributes:
        opponent: name of the opponent.
        difference: mean difference over blocks, or over runs where tests count these.
        low: lower end of its 95 % t interval over what tests count; None with fewer than 3.
        high: upper end of it; None like ``low``.
        num_wins: number of blocks, or runs, in which the loss is ahead.
        num_units: number of all of them.
        p: adjusted p of the primary test; None without a test.
        is_different: whether the two are significantly different.
        num_needed: blocks, or runs, with which a t test would find a difference of this size with
            a power of 80 %; None if that cannot be said.
    """

    opponent: str
    difference: float
    low: float | None
    high: float | None
    num_wins: int
    num_units: int
    p: float | None
    is_different: bool
    num_needed: int | None


def differences_of(results: StudyResults, loss: str) -> tuple[Against, ...]:
    """The loss against every other one, the best placed opponent first; empty if it is not ranked.

    Args:
        results: results of the study.
        loss: its name in the tournament.
    """
    held = results.tournament
    if held is None or loss not in held.names:
        return ()
    units_UC, own = held.unit_scores_UC, held.names.index(loss)
    found = []
    for pair in held.pairs:
        if loss not in (pair.a, pair.b):
            continue
        opponent = pair.b if pair.a == loss else pair.a
        gaps_U = units_UC[:, own] - units_UC[:, held.names.index(opponent)]
        interval = t_interval(gaps_U.tolist())
        found.append(
            Against(
                opponent=opponent,
                difference=interval.estimate,
                low=interval.low,
                high=interval.high,
                num_wins=int((gaps_U > 0).sum()),
                num_units=len(gaps_U),
                p=pair.p,
                is_different=pair.differs(held.alpha),
                num_needed=_needed(gaps_U.tolist()),
            )
        )
    return tuple(sorted(found, key=lambda one: held.names.index(one.opponent)))


def answer_text(
    results: StudyResults,
    loss: str,
    against: Sequence[Against],
    *,
    stronger: str | None,
    unsearched: Sequence[str],
) -> str:
    """The answer in plain words, as wide as the terminal.

    Args:
        results: results of the study.
        loss: name of the loss in the tournament.
        against: its differences, from `differences_of`.
        stronger: command of a stronger comparison; None if there is none.
        unsearched: its hyperparameters if none of them was searched; else empty.
    """
    parts = [
        *([_table(loss, against, results.ranked_by.label)] if against else []),
        *_verdict(results, loss, against, stronger),
        *gain_sentences(results),
        *_hint(loss, unsearched),
        *filter(None, (failed_sentence(results),)),
        *_limits(results),
    ]
    return paragraphs(parts, terminal_width())


def led_by(page: Page, results: StudyResults, loss: str, against: Sequence[Against]) -> Page:
    """The study's report with a first screen about the loss: what is known, and each difference.

    Args:
        page: the report, whose first screen is about whoever leads.
        results: results of the study.
        loss: name of the loss in the tournament.
        against: its differences, from `differences_of`.
    """
    held, score = results.tournament, results.ranked_by.label
    assert page.summary is not None, "the page of a study has one"
    if held is None or not against:
        return page
    series = {one.name: one for one in page.series}
    leaders = table(
        against,
        (
            Column.named("Loss", "opponent", series),
            Column.signed(f"Points of {score}", "difference", 1),
            Column.interval("95 % interval", "low", "high", 1),
            Column.text("Ahead in", _ahead, order="num_wins", is_number=True),
            Column.p_value("p", "p", best="is_different"),
        ),
        name="against",
        caption=f"{loss} minus each other loss, over {held.units.counted}",
    )
    facts = tuple(
        Fact(value=signed(one.difference, 1), label=f"points of {score}: minus {one.opponent}")
        for one in against[:_MOST_FACTS]
    )
    verdict = " ".join(_known(held, loss, against))
    return replace(
        page, summary=replace(page.summary, verdict=verdict, facts=facts, leaderboard=leaders)
    )


def _needed(gaps: Sequence[float]) -> int | None:
    values = pl.Series(gaps, dtype=pl.Float64)
    mean, std = values.mean(), values.std()
    if not mean or not std:
        return None
    return pairs_needed(abs(float(mean)), difference_std=float(std))  # type: ignore[arg-type]


def _table(loss: str, against: Sequence[Against], score: str) -> str:
    minus = f"{loss.rpartition(':')[2]} minus"
    rows = [
        {
            minus: one.opponent,
            f"points of {score}": signed(one.difference, 1),
            "95 % interval": range_of(one.low, one.high, 1),
            "ahead in": _ahead(one),
        }
        for one in against
    ]
    return whole_table(rows)


def _verdict(
    results: StudyResults, loss: str, against: Sequence[Against], stronger: str | None
) -> Iterator[str]:
    held = results.tournament
    if held is None:
        yield f"There is no ranking: {results.no_tournament_reason}."
        return
    if not against:
        yield f"{loss} has no tested winner and is not ranked."
        return
    known = " ".join(_known(held, loss, against))
    unsure = [one for one in against if not one.is_different]
    if unsure:
        yield f"{known} {_how_to_decide(held, unsure, stronger)}"
        return
    yield known
    if stronger:
        yield f"These are short trainings. A stronger comparison: {stronger}"


def _ahead(one: Against) -> str:
    return f"{one.num_wins} of {one.num_units}"


def _known(held: Tournament, loss: str, against: Sequence[Against]) -> Iterator[str]:
    """Its rank, from which others it differs significantly, and from which it does not."""
    yield _rank(held, loss)
    yield from _significant(held, against)
    if unsure := [one.opponent for one in against if not one.is_different]:
        yield f"It cannot be separated from {listed(unsure)} by {held.units.counted}."


def _rank(held: Tournament, loss: str) -> str:
    standing = next(one for one in held.standings if one.competitor == loss)
    return (
        f"{loss} has rank {standing.place} of {len(held.names)} over {held.units.counted}, with an"
        f" average rank of {number(standing.average_rank)}."
    )


def _significant(held: Tournament, against: Sequence[Against]) -> Iterator[str]:
    for word, sign in (("better", 1), ("worse", -1)):
        named = [
            f"{one.opponent} ({p_equals(one.p)})"
            for one in against
            if one.is_different and sign * one.difference > 0
        ]
        if named:
            yield f"It is significantly {word} than {listed(named)}."


def _how_to_decide(held: Tournament, unsure: Sequence[Against], stronger: str | None) -> str:
    sentences = []
    smallest = held.smallest_p
    if smallest is not None and smallest.adjusted > held.alpha:
        sentences.append(
            "With so few no pair can differ significantly."
            f" {needed_text(len(held.names), held.alpha, held.test, units=held.units)}"
        )
    named = [
        f"about {counted(one.num_needed, held.units.noun)} to separate it from {one.opponent}"
        for one in unsure
        if one.num_needed is not None and one.num_needed > one.num_units
    ]
    if named:
        sentences.append(f"If the differences are what they seem, it takes {listed(named)}.")
    if stronger:
        sentences.append(f"To decide, run: {stronger}")
    return " ".join(sentences)


def _hint(loss: str, unsearched: Sequence[str]) -> Iterator[str]:
    if unsearched:
        example = f"search_space = {{'{unsearched[0]}': {{'low': ..., 'high': ...}}}}"
        yield (
            f"Of {loss} only learning rates were searched, not {listed(unsearched)}: a line"
            f" {example} in its class has them searched, as those of the others are."
        )


def _limits(results: StudyResults) -> Iterator[str]:
    """What the answer is not about."""
    if results.tournament is not None and results.tournament.question == "these_blocks":
        yield (
            "This is about these images and this split of their classes, with a small network"
            " without pretraining. Other images, or a pretrained network, may rank otherwise."
        )
    elif results.trials["dataset"].str.contains("-").any():
        yield (
            "The sets share typefaces but no character: other scripts may rank alike, photographs"
            " need not. Letters are for trying a loss, not for papers."
        )

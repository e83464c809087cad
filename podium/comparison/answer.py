"""The answer of a comparison: one loss against each opponent, and how sure that is.

All numbers are those of the study's tournament; nothing is tested here that it does not test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from podium.analysis.page.html_page import Page
from podium.analysis.page.tables import Column, table
from podium.analysis.report.verdict import above_baseline, failed_sentence, gain_sentences
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.tournament.verdict_text import separated_sentences
from podium.analysis.wording import counted, listed, number, range_of, signed
from podium.terminal.fitting_table import terminal_width, whole_table
from podium.terminal.printing import paragraphs

_MOST_FACTS = 3  # differences in large figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The loss minus one opponent, in points of the score that losses are ranked by.

    Attributes:
        opponent: name of the opponent.
        difference: mean difference over the units of the test: data sets, or runs.
        low: lower end of its interval, simultaneous with those of the others; None without a test.
        high: upper end of it; None like ``low``.
        num_wins: number of units in which the loss is ahead.
        num_ties: number of units with equal scores.
        num_units: number of all units.
        p: adjusted p of the test; None without a test.
        is_different: whether the two are significantly different.
    """

    opponent: str
    difference: float
    low: float | None
    high: float | None
    num_wins: int
    num_ties: int
    num_units: int
    p: float | None
    is_different: bool


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
        opponent, sign = (pair.b, 1) if pair.a == loss else (pair.a, -1)
        gaps_U = units_UC[:, own] - units_UC[:, held.names.index(opponent)]
        ends = sorted(sign * end for end in (pair.low, pair.high) if end is not None)
        found.append(
            Against(
                opponent=opponent,
                difference=sign * pair.mean_difference,
                low=ends[0] if ends else None,
                high=ends[1] if ends else None,
                num_wins=int((gaps_U > 0).sum()),
                num_ties=int((gaps_U == 0).sum()),
                num_units=len(gaps_U),
                p=pair.p,
                is_different=pair.differs(held.rules.alpha),
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
    versions: Sequence[str] = (),
) -> str:
    """The answer in plain words, as wide as the terminal.

    Args:
        results: results of the study.
        loss: name of the loss in the tournament.
        against: its differences, from `differences_of`.
        stronger: command of a stronger comparison; None if there is none.
        unsearched: its hyperparameters if none of them was searched; else empty.
        versions: what is said of other versions of the loss.
    """
    parts = [
        *([_table(loss, against, results.ranked_by.label)] if against else []),
        *_verdict(results, loss, against, stronger),
        *([" ".join(versions)] if versions else []),
        *filter(None, (above_baseline(results)[0],)),
        *gain_sentences(results),
        *_hint(loss, unsearched),
        *filter(None, (failed_sentence(results),)),
        *_limits(results),
    ]
    return paragraphs(parts, terminal_width())


def led_by(
    page: Page,
    results: StudyResults,
    loss: str,
    against: Sequence[Against],
    versions: Sequence[str],
) -> Page:
    """The study's report with a first screen about the loss: what is known, and each difference.

    Args:
        page: the report, whose first screen is about whoever leads.
        results: results of the study.
        loss: name of the loss in the tournament.
        against: its differences, from `differences_of`.
        versions: what is said of other versions of the loss.
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
            Column.signed(f"Points of {score}", "difference", 1, below=("low", "high")),
            Column.text("Ahead in", _ahead, order="num_wins", is_number=True),
            Column.p_value("p", "p", best="is_different"),
        ),
        name="against",
        caption=f"{loss} minus each other loss, over {held.units.counted}; below each difference"
        " its 95 % interval",
    )
    facts = tuple(
        (signed(one.difference, 1), f"points of {score}: minus {one.opponent}")
        for one in against[:_MOST_FACTS]
    )
    said = page.summary
    summary = replace(
        said,
        verdict=" ".join([*_known(held, loss), *versions[1:]]),
        facts=facts,
        leaderboard=leaders,
        sentences=(*versions[:1], said.verdict, *said.sentences),
    )
    return replace(page, summary=summary)


def _table(loss: str, against: Sequence[Against], score: str) -> str:
    minus = f"{loss} minus"
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
    known = " ".join(_known(held, loss))
    unsure = [one for one in against if not one.is_different]
    if unsure:
        yield f"{known}{f' For a surer answer, run: {stronger}' if stronger else ''}"
        return
    yield known
    if stronger:
        yield f"These are short trainings. A stronger comparison: {stronger}"


def _ahead(one: Against) -> str:
    ties = f", {counted(one.num_ties, 'tie')}" if one.num_ties else ""
    return f"{one.num_wins} of {one.num_units}{ties}"


def _known(held: Tournament, loss: str) -> Iterator[str]:
    """Its rank, and from which others it differs; or why that was not tested."""
    standing = next(one for one in held.standings if one.competitor == loss)
    average = f", with an average rank of {number(standing.average_rank)}"
    yield (
        f"{loss} has rank {standing.place} of {len(held.names)} over {held.units.counted}"
        f"{average if len(held.blocks) > 1 else ''}."
    )
    if held.is_tested:
        yield from separated_sentences(held)
    else:
        yield held.units.why_untested


def _hint(loss: str, unsearched: Sequence[str]) -> Iterator[str]:
    if unsearched:
        example = f"search_space = {{'{unsearched[0]}': {{'low': ..., 'high': ...}}}}"
        yield (
            f"Of {loss} only learning rates were searched, not {listed(unsearched)}: a line"
            f" {example} in its class has them searched, as those of the others are."
        )


def _limits(results: StudyResults) -> Iterator[str]:
    """What the answer is not about."""
    if results.tournament is not None and results.tournament.rules.question == "these_blocks":
        yield (
            "This is about these images and this split of their classes, with a small network"
            " without pretraining. Other images, or a pretrained network, may rank otherwise."
        )
    elif results.trials["dataset"].str.contains("-").any():
        yield (
            "The sets share typefaces but no character: other scripts may rank alike, photographs"
            " need not. Letters are for trying a loss, not for papers."
        )

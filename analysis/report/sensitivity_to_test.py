"""Sensitivity to the test: one table under several tests, and probabilities of superiority."""

from collections.abc import Mapping

import numpy as np

from analysis.estimates.grouped_share import FEWEST_GROUPS
from analysis.figures.matrix import MatrixText, Scale, matrix_plot
from analysis.figures.series import Series
from analysis.hypothesis_tests.bayesian_signed_rank import FEW_BLOCKS
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
from analysis.study_results.study_results import StudyResults
from analysis.tournament.interquartile_means import FEWEST_RUNS, FEWEST_VALUES
from analysis.tournament.probability_of_superiority import ENOUGH_RUNS, MEANINGFUL, Superiority
from analysis.tournament.sensitivity_to_test import SensitivityToTest, VerdictUnderTest
from analysis.tournament.sensitivity_to_test_text import agreement_text, medals_text, rope_text
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import pool_sentences, unit_count
from analysis.wording import MISSING, counted, listed, number, p_equals, range_of

_NAMED = 3  # pairs or competitors in one cell; more are counted


def sensitivity_to_test(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking over several blocks."""
    if results.tournament is None or results.sensitivity_to_test is None:
        return None
    return _section(
        results.tournament,
        results.sensitivity_to_test,
        series,
        unit="points",
        primary="The primary test was declared before the outcome was known",
    )


def table_sensitivity_to_test(
    results: TableResults, series: Mapping[str, Series]
) -> Section | None:
    """The section of a published table; None with a single block."""
    if results.sensitivity_to_test is None:
        return None
    return _section(
        results.tournament,
        results.sensitivity_to_test,
        series,
        unit=f"units of {results.score}",
        primary=f"A table declares no test; the primary one is {results.rules_from}",
    )


def _section(
    tournament: Tournament,
    found: SensitivityToTest,
    series: Mapping[str, Series],
    *,
    unit: str,
    primary: str,
) -> Section:
    parts: list[Part] = [
        Paragraph(text=agreement_text(tournament, found)),
        _tests(tournament, found, primary),
        *(Paragraph(text=sentence) for sentence in pool_sentences(tournament)),
        Fold(
            summary="Probabilities of superiority and interquartile means",
            parts=(
                _superiorities(tournament, found, series),
                *_interquartile(tournament, found, series, unit),
            ),
        ),
    ]
    return Section(name="other-tests", title="Sensitivity to the test", parts=tuple(parts))


def _tests(tournament: Tournament, found: SensitivityToTest, primary: str) -> Table:
    rows = [
        (
            Cell(text=test.shown, order=test.label),
            Cell(
                text=str(len(test.different_pairs)),
                order=len(test.different_pairs),
                is_best=test.is_primary,
            ),
            Cell(text=_equal_to_first(test), order=len(test.not_different_from_first)),
            Cell(text=medals_text(test)),
        )
        for test in found.tests
    ]
    anova = found.anova
    return Table(
        name="tests",
        caption=f"Pairs of {found.num_pairs:,} that differ significantly by each test over"
        f" {tournament.units.counted} at {100 * tournament.alpha:g} %",
        columns=(
            *Column.texts("Test"),
            *Column.numbers("Pairs that differ"),
            *Column.texts(f"Not different from {tournament.names[0]}", "First ranks"),
        ),
        rows=tuple(rows),
        note=f"{primary}; verdicts are by it alone. The Bayesian test"
        f" counts a pair where one is better with a probability of {1 - tournament.alpha:g}, which"
        " is not adjusted for the number of pairs. ANOVA with repeated measures:"
        f" F({anova.degrees_of_freedom[0]}, {anova.degrees_of_freedom[1]}) ="
        f" {number(anova.statistic)}, {p_equals(anova.corrected_p_value)} (Greenhouse–Geisser).",
    )


def _equal_to_first(test: VerdictUnderTest) -> str:
    return listed(test.not_different_from_first, most=_NAMED) or "none"


def _superiorities(
    tournament: Tournament, found: SensitivityToTest, series: Mapping[str, Series]
) -> Illustration:
    """How often a run of the row scores higher than one of the column, of every pair."""
    index = {name: position for position, name in enumerate(tournament.names)}
    shares_CC = np.full((len(index), len(index)), np.nan)
    is_meaningful_CC = np.zeros(shares_CC.shape, dtype=bool)
    for one in found.superiorities:
        a, b = index[one.a], index[one.b]
        shares_CC[a, b], shares_CC[b, a] = one.estimate, 1 - one.estimate
        is_meaningful_CC[a, b] = one.is_meaningful
    return Illustration(
        name="superiority",
        plots=(
            matrix_plot(
                tournament.names,
                tournament.names,
                shares_CC,
                Scale(
                    label="P(a run of the row scores higher)",
                    start=0,
                    end=1,
                    is_diverging=True,
                    digits=2,
                ),
                MatrixText(joint="against", framed="meaningful"),
                name="superiority-plot",
                title="Probability of superiority of each pair of competitors",
                description=f"Rows and columns are {len(index)} competitors, best first: how often"
                " a run of the row scores higher than one of the column.",
                is_framed_RC=is_meaningful_CC,
            ),
        ),
        caption="How often a run of the row scores higher than one of the column; framed:"
        f" meaningful, from {MEANINGFUL:g} on with an interval above one half.",
        table=_pairs(tournament, found, series),
    )


def _pairs(
    tournament: Tournament, found: SensitivityToTest, series: Mapping[str, Series]
) -> Table:
    entries = zip(tournament.pairs, found.superiorities, found.better, strict=True)
    rows = [
        (
            Cell.named(pair.a, series),
            Cell.named(pair.b, series),
            Cell.number(one.estimate, is_best=one.is_meaningful),
            Cell.interval(one.low, one.high),
            *(Cell.number(share) for share in (better.a_better, better.rope, better.b_better)),
        )
        for pair, one, better in entries
    ]
    return Table(
        name="probabilities",
        caption="How often a run of the first scores higher, and the probability that it is"
        " better, over"
        f" {counted(len(tournament.blocks), 'block')}",
        columns=(
            *Column.texts("First", "Second"),
            *Column.numbers("P(first > second)", "95\N{NO-BREAK SPACE}% interval"),
            Column(label="Better", group="Bayesian signed-rank"),
            Column(label="As good", group="Bayesian signed-rank"),
            Column(label="Worse", group="Bayesian signed-rank"),
        ),
        rows=tuple(rows),
        note=_pairs_note(found, tournament),
        is_sortable=True,
    )


def _pairs_note(found: SensitivityToTest, tournament: Tournament) -> str:
    one: Superiority = found.superiorities[0]
    noun = tournament.units.noun
    if one.num_runs == 1:
        compared = "Every block has one run of each"
    else:
        compared = f"Runs are compared {'seed by seed' if one.is_paired else 'each with each'}"
    interval = (
        f"no interval: it takes {FEWEST_GROUPS} {noun}s"
        if one.low is None
        else f"intervals are Wilson's, from how {noun}s vary"
    )
    few = (
        f" With {unit_count(tournament)} these estimates are very uncertain."
        if tournament.units.number < FEW_BLOCKS
        else ""
    )
    return (
        f"{compared}; {interval}. In bold: meaningful, from {MEANINGFUL:g} on with an interval"
        f" above one half; a test needs {ENOUGH_RUNS} comparisons to find that."
        f" {rope_text(found)} Nothing here is"
        f" adjusted for the number of pairs.{few}"
    )


def _interquartile(
    tournament: Tournament, found: SensitivityToTest, series: Mapping[str, Series], unit: str
) -> tuple[Part, ...]:
    if all(one.estimate is None for one in found.interquartile):
        text = f"An interquartile mean takes {FEWEST_VALUES} runs and more of each competitor."
        return (Paragraph(text=text, style="note"),)
    rows = [
        (
            Cell.named(one.competitor, series),
            Cell.signed(one.estimate),
            Cell(text=range_of(one.low, one.high) or MISSING, order=one.low),
            Cell.count(one.num_values),
        )
        for one in found.interquartile
    ]
    return (
        Table(
            name="interquartile-means",
            caption=f"Interquartile mean of score minus median of the block, in {unit}, over"
            f" {counted(len(tournament.blocks), 'block')}",
            columns=(
                *Column.texts("Competitor"),
                *Column.numbers("Interquartile mean", "95\N{NO-BREAK SPACE}% interval", "Runs"),
            ),
            rows=tuple(rows),
            note="The lowest and highest quarter of all runs of all blocks are left out; a"
            " competitor that is the median of every block is at 0 by definition. Intervals by"
            " drawing runs within each block: they hold for other seeds on these blocks, and"
            f" need {FEWEST_RUNS} runs in every block.",
            is_sortable=True,
        ),
    )

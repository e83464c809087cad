"""The same table under several tests, and how often and how far one competitor is ahead."""

from collections.abc import Mapping

from analysis.figures.style import Series
from analysis.hypothesis_tests.bayesian_signed_rank import FEW_BLOCKS
from analysis.page.html_page import Cell, Column, Fold, Paragraph, Part, Section, Table
from analysis.study_results.study_results import StudyResults
from analysis.tournament.interquartile_means import FEWEST_RUNS, FEWEST_VALUES
from analysis.tournament.probability_of_superiority import ENOUGH_RUNS, MEANINGFUL, Superiority
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.test_sensitivity import Multiverse, UnderTest
from analysis.tournament.test_sensitivity_text import agreement_text, medals_text, rope_text
from analysis.tournament.tournament import Tournament
from analysis.wording import MISSING, counted, listed, number, p_equals, range_of, signed

__all__ = ["other_tests", "table_other_tests"]

_NAMED = 6  # pairs or competitors in one cell; more are counted


def other_tests(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking over several blocks."""
    if results.tournament is None or results.multiverse is None:
        return None
    return _section(results.tournament, results.multiverse, series, "points")


def table_other_tests(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None with a single block."""
    if results.multiverse is None:
        return None
    return _section(results.tournament, results.multiverse, series, f"units of {results.score}")


def _section(
    tournament: Tournament, found: Multiverse, series: Mapping[str, Series], unit: str
) -> Section:
    parts: list[Part] = [
        Paragraph(text=agreement_text(found)),
        _tests(tournament, found),
        *_pool(tournament),
        *_available(tournament, series),
        Fold(
            summary="How often and how far each is ahead, with probabilities",
            parts=(
                _pairs(tournament, found, series),
                *_interquartile(tournament, found, series, unit),
            ),
        ),
    ]
    return Section(
        name="other-tests",
        title="Would another test have said so?",
        label="Other tests",
        parts=tuple(parts),
    )


def _tests(tournament: Tournament, found: Multiverse) -> Table:
    rows = [
        (
            Cell(text=_label(test), order=test.label),
            Cell(text=str(len(test.apart)), order=len(test.apart), is_best=test.is_primary),
            Cell(text=_equal_to_first(test), order=len(test.not_from_first)),
            Cell(text=medals_text(test)),
        )
        for test in found.tests
    ]
    anova = found.anova
    return Table(
        name="tests",
        caption=f"Pairs of {found.num_pairs:,} that each test tells apart over"
        f" {counted(len(tournament.blocks), 'block')} at {100 * tournament.alpha:g} %",
        columns=(
            Column(label="Test", is_number=False),
            Column(label="Pairs apart"),
            Column(label=f"Not told from {tournament.names[0]}", is_number=False),
            Column(label="Places", is_number=False),
        ),
        rows=tuple(rows),
        note="The primary test was declared before the outcome was known; verdicts are by it"
        " alone. Shared: the test cannot tell the place from someone behind. The Bayesian test"
        f" counts a pair where one is better with a probability of {1 - tournament.alpha:g}, which"
        " is not adjusted for the number of pairs. ANOVA with repeated measures:"
        f" F({anova.degrees_of_freedom[0]}, {anova.degrees_of_freedom[1]}) ="
        f" {number(anova.statistic)}, {p_equals(anova.corrected_p_value)} (Greenhouse–Geisser).",
    )


def _label(test: UnderTest) -> str:
    return f"{test.label} (primary)" if test.is_primary else test.label


def _equal_to_first(test: UnderTest) -> str:
    return listed(test.not_from_first, most=_NAMED) or "nobody"


def _pool(tournament: Tournament) -> tuple[Part, ...]:
    """Nemenyi's verdicts when only the best had taken part."""
    pool = tournament.pool
    if pool is None:
        return ()
    size, reach = len(pool.pool), number(pool.critical_difference_in_pool, 3)
    if not pool.changed:
        text = f"Among the best {size} alone (CD {reach}) Nemenyi would say the same of them."
        return (Paragraph(text=text),)
    named = [
        f"{change.a} and {change.b} (average ranks {number(change.gap)} apart,"
        f" {number(change.gap_in_pool)} among {size})"
        for change in pool.changed
    ]
    return (
        Paragraph(
            text=f"Nemenyi's verdicts depend on the pool: with the best {size} alone the critical"
            f" difference is {reach} and not {number(pool.critical_difference, 3)}, and it would"
            f" {'' if pool.changed[0].is_apart_in_pool else 'not '}tell apart"
            f" {listed(named, most=_NAMED)}."
        ),
    )


def _available(tournament: Tournament, series: Mapping[str, Series]) -> tuple[Part, ...]:
    """All blocks, where some are left out of the ranking for missing scores."""
    available = tournament.available
    if available is None:
        return ()
    rows = [
        (
            Cell(text=rank.competitor, series=series[rank.competitor], order=rank.competitor),
            Cell(text=number(rank.beaten_by), order=rank.beaten_by),
            Cell(text=number(rank.average_rank), order=rank.average_rank),
            Cell(text=str(rank.num_blocks), order=rank.num_blocks),
        )
        for rank in available.ranks
    ]
    test = available.test
    told = (
        f"Skillings–Mack: {number(test.statistic)} with {test.degrees_of_freedom} degrees of"
        f" freedom, {p_equals(test.permutation_p_value)} by permutation over"
        f" {counted(test.num_blocks, 'block')}."
        if test
        else "Skillings and Mack's test cannot be computed on what is there."
    )
    left_out = counted(len(tournament.excluded), "block")
    return (
        Table(
            name="available-ranks",
            caption=f"All blocks, also the {left_out} left out of the ranking for missing scores",
            columns=(
                Column(label="Competitor", is_number=False),
                Column(label="Beaten by"),
                Column(label="Average rank"),
                Column(label="Blocks"),
            ),
            rows=tuple(rows),
            note=f"{told} Beaten by: mean share of those present beside it that are better, 0 is"
            " first. Ranks are among those present; fewer present make better ranks.",
            is_sortable=True,
        ),
    )


def _pairs(tournament: Tournament, found: Multiverse, series: Mapping[str, Series]) -> Table:
    entries = zip(tournament.pairs, found.superiorities, found.better, strict=True)
    rows = [
        (
            Cell(text=pair.a, series=series[pair.a], order=pair.a),
            Cell(text=pair.b, series=series[pair.b], order=pair.b),
            Cell(text=number(one.estimate), order=one.estimate, is_best=one.is_meaningful),
            Cell(text=range_of(one.low, one.high), order=one.low),
            *(
                Cell(text=number(share), order=share)
                for share in (better.a_better, better.rope, better.b_better)
            ),
        )
        for pair, one, better in entries
    ]
    return Table(
        name="probabilities",
        caption="How often a run of the first scores higher, and how probably it is better, over"
        f" {counted(len(tournament.blocks), 'block')}",
        columns=(
            Column(label="First", is_number=False),
            Column(label="Second", is_number=False),
            Column(label="P(first > second)"),
            Column(label="95\N{NO-BREAK SPACE}% interval"),
            Column(label="Better", group="Bayesian signed-rank"),
            Column(label="As good", group="Bayesian signed-rank"),
            Column(label="Worse", group="Bayesian signed-rank"),
        ),
        rows=tuple(rows),
        note=_pairs_note(found, len(tournament.blocks)),
        is_sortable=True,
    )


def _pairs_note(found: Multiverse, num_blocks: int) -> str:
    one: Superiority = found.superiorities[0]
    if one.num_runs == 1:
        drawn = "Every block has one run of each; intervals by resampling blocks"
    else:
        how = "seed by seed" if one.is_paired else "each with each"
        drawn = f"Runs are compared {how}; intervals by resampling blocks and their runs"
    few = (
        f" With {counted(num_blocks, 'block')} all of it says little."
        if num_blocks < FEW_BLOCKS
        else ""
    )
    return (
        f"{drawn}. In bold: meaningful, from {MEANINGFUL:g} on with an interval above one half; a"
        f" test needs {ENOUGH_RUNS} comparisons to find that. {rope_text(found)} Nothing here is"
        f" adjusted for the number of pairs.{few}"
    )


def _interquartile(
    tournament: Tournament, found: Multiverse, series: Mapping[str, Series], unit: str
) -> tuple[Part, ...]:
    if all(one.estimate is None for one in found.interquartile):
        text = f"An interquartile mean takes {FEWEST_VALUES} runs and more of each competitor."
        return (Paragraph(text=text, style="note"),)
    rows = [
        (
            Cell(text=one.competitor, series=series[one.competitor], order=one.competitor),
            Cell(text=signed(one.estimate), order=one.estimate),
            Cell(text=range_of(one.low, one.high) or MISSING, order=one.low),
            Cell(text=str(one.num_values), order=one.num_values),
        )
        for one in found.interquartile
    ]
    return (
        Table(
            name="interquartile-means",
            caption=f"Interquartile mean of score minus median of the block, in {unit}, over"
            f" {counted(len(tournament.blocks), 'block')}",
            columns=(
                Column(label="Competitor", is_number=False),
                Column(label="Interquartile mean"),
                Column(label="95\N{NO-BREAK SPACE}% interval"),
                Column(label="Runs"),
            ),
            rows=tuple(rows),
            note="The lowest and highest quarter of all runs of all blocks are left out; who is"
            " the middle of every block is at 0 by definition. Intervals by drawing runs within"
            " each block: they speak of other seeds on these blocks, and"
            f" need {FEWEST_RUNS} runs in every block.",
            is_sortable=True,
        ),
    )

"""Paired differences of competitors with their intervals: how far the first is ahead."""

from collections.abc import Mapping, Sequence

from analysis.estimates.confidence_intervals import (
    FEWEST_VALUES,
    Interval,
    grouped_interval,
    t_interval,
)
from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.series import Series
from analysis.hypothesis_tests.pairwise_comparisons import Pair
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.tournament.primary_test_text import METHODS, adjusted_word
from analysis.tournament.tournament import Tournament
from analysis.wording import p_value

_MOST_PAIRS = 10  # of which all are shown; of more those with the first competitor


def paired_differences(
    tournament: Tournament, series: Mapping[str, Series], *, rope: float | None
) -> Illustration:
    """Differences with Student's t intervals over what the tests count as independent.

    Args:
        tournament: the tournament; few competitors have all pairs shown, many those of the first.
        series: look of each competitor.
        rope: half-width of the region of practical equivalence, which is shaded; None for none.
    """
    is_every = len(tournament.pairs) <= _MOST_PAIRS
    first = tournament.names[0]
    pairs = [pair for pair in tournament.pairs if is_every or pair.a == first]
    found = [_interval(tournament, pair) for pair in pairs]
    plot = intervals_plot(
        [
            IntervalRow(
                name=pair.b,
                group=f"{pair.a} minus" if is_every else "",
                estimate=Estimate(value=one.estimate, low=one.low, high=one.high),
                series=series[pair.b],
                is_filled=pair.differs(tournament.alpha),
                columns=(p_value(pair.p),),
                note="significantly different"
                if pair.differs(tournament.alpha)
                else "not significantly different",
            )
            for pair, one in zip(pairs, found, strict=True)
        ],
        IntervalAxis(
            label="Difference, points",
            reference=0,
            region=None if rope is None else (-rope, rope),
            region_label="practically equivalent",
        ),
        IntervalWords(value="mean difference, points", heads=("p",)),
        name="paired-differences-plot",
        title="Paired differences with their intervals",
        description="One line for each pair: mean difference in points with its 95 % interval."
        " Hollow marks do not differ significantly. The numbers are in the table.",
    )
    return Illustration(
        name="paired-differences",
        plots=(plot,),
        caption=f"Paired differences{'' if is_every else f' of {first}'}: mean and"
        f" {_intervals(tournament, found)}; hollow: not significantly different by the primary"
        f" test ({METHODS[tournament.test]}), whose p is at the right.{_region(rope)}",
        table=_table(tournament, pairs, found, series),
    )


def _interval(tournament: Tournament, pair: Pair) -> Interval:
    """Over the units of the tests: groups of blocks, blocks, or runs of fixed blocks."""
    a, b = tournament.names.index(pair.a), tournament.names.index(pair.b)
    if tournament.run_scores is not None:
        return t_interval(
            (tournament.unit_scores_UC[:, a] - tournament.unit_scores_UC[:, b]).tolist()
        )
    gaps_B = tournament.scores_BC[:, a] - tournament.scores_BC[:, b]
    return grouped_interval(gaps_B.tolist(), tournament.block_groups.labels)


def _intervals(tournament: Tournament, found: Sequence[Interval]) -> str:
    if found[0].low is None:
        return f"no interval, which takes {FEWEST_VALUES} {tournament.units.noun}s"
    return (
        f"Student's 95 % interval over {tournament.units.counted}, not adjusted for the number of"
        " pairs"
    )


def _region(rope: float | None) -> str:
    if rope is None:
        return ""
    return f" Shaded: the declared region of practical equivalence, {rope:g} points either way."


def _word(tournament: Tournament) -> str:
    word = adjusted_word(tournament.test)
    return word[0].upper() + word[1:]


def _table(
    tournament: Tournament,
    pairs: Sequence[Pair],
    found: Sequence[Interval],
    series: Mapping[str, Series],
) -> Table:
    return Table(
        name="paired-differences-table",
        caption="Mean difference of the first minus the second, in points",
        columns=(
            *Column.texts("First", "Second"),
            *Column.numbers("Difference", "95 % interval", f"{_word(tournament)} p"),
        ),
        rows=tuple(
            (
                Cell.named(pair.a, series),
                Cell.named(pair.b, series),
                Cell.signed(one.estimate),
                Cell.interval(one.low, one.high),
                Cell.p_value(pair.p, is_best=pair.differs(tournament.alpha)),
            )
            for pair, one in zip(pairs, found, strict=True)
        ),
        is_sortable=True,
    )

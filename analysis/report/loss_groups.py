"""Groups of losses beside each other: those on embeddings against classification losses."""

from collections.abc import Iterator, Mapping

from analysis.estimates.confidence_intervals import FEWEST_VALUES, Interval
from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.series import Series, series_of
from analysis.page.html_page import Cell, Column, Fold, Illustration, Paragraph, Section, Table
from analysis.study_results.study_results import StudyResults
from analysis.tournament.loss_groups import GroupDifference, LossGroup, LossGroups
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.wording import MOST_NAMED, counted, listed, number, range_of, signed

_ALL = "mean of the group"


def loss_groups(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without two groups of ranked losses, as in old studies."""
    if results.tournament is None or results.loss_groups is None:
        return None
    label = results.ranked_by.label
    return _section(
        results.loss_groups,
        results.tournament,
        series,
        metric=f"{label}, %",
        gap=f"points of {label}",
    )


def table_loss_groups(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None unless groups were asked for."""
    if results.loss_groups is None:
        return None
    return _section(
        results.loss_groups,
        results.tournament,
        series,
        metric=results.score,
        gap=f"points of {results.score}",
    )


def _section(
    found: LossGroups,
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    metric: str,
    gap: str,
) -> Section:
    return Section(
        name="loss-groups",
        title="Groups of losses",
        parts=(
            *(Paragraph(text=text) for text in _sentences(found, tournament, gap)),
            _figure(found, tournament, series, metric),
            Fold(summary="Numbers of the differences", parts=(_differences(found, metric),)),
        ),
    )


def _sentences(found: LossGroups, tournament: Tournament, gap: str) -> Iterator[str]:
    yield " ".join(_difference_text(item, gap) for item in found.differences)
    blocks = tournament.block_groups
    few = (
        ""
        if blocks.number >= FEWEST_VALUES
        else f" An interval needs {FEWEST_VALUES} {blocks.noun}s, and there"
        f" {'is' if blocks.number == 1 else 'are'} {blocks.number}."
    )
    yield (
        f"Intervals are Student's over {blocks.counted}, for the losses that are here: they say"
        f" what other {blocks.elsewhere} might give, not what other losses of a group would.{few}"
    )
    if found.ungrouped:
        yield f"In no group: {listed(found.ungrouped, most=MOST_NAMED)}."


def _difference_text(item: GroupDifference, gap: str) -> str:
    mean = item.difference
    interval = "" if mean.low is None else f" ({range_of(mean.low, mean.high)})"
    return f"{item.a} minus {item.b}: {signed(mean.estimate)} {gap}{interval} on average."


def _figure(
    found: LossGroups, tournament: Tournament, series: Mapping[str, Series], metric: str
) -> Illustration:
    looks = series_of([group.name for group in found.groups])
    rank_of = {item.competitor: item.average_rank for item in tournament.standings}
    blocks = counted(len(tournament.blocks), "block")
    return Illustration(
        name="loss-groups-figure",
        plots=(
            intervals_plot(
                [
                    row
                    for group in found.groups
                    for row in _group_rows(group, looks[group.name], rank_of)
                ],
                IntervalAxis(label="Average rank (1 is best)"),
                IntervalWords(value="average rank"),
                name="loss-groups-plot",
                title="Average ranks by group of losses",
                description="Below the name of each group the mean of the ranks of its losses"
                " with its interval, then the average rank of each loss, best first. The numbers"
                " are in the table.",
            ),
        ),
        caption=f"Average ranks among all {len(tournament.names)} losses by group (n = {blocks}):"
        " filled the mean of the group, with its 95 % interval, hollow each of its losses.",
        table=Table(
            name="loss-groups-table",
            caption=f"Groups of losses: mean rank and mean score of their losses over {blocks}",
            columns=(
                *Column.texts("Group"),
                *Column.numbers(
                    "Losses", "Mean rank", "95 % of the rank", f"Mean {metric}", "95 % of the mean"
                ),
                *Column.texts("Best loss"),
                *Column.numbers(f"Its mean {metric}"),
            ),
            rows=tuple(_row(group, series) for group in found.groups),
        ),
    )


def _group_rows(
    group: LossGroup, look: Series, rank_of: Mapping[str, float]
) -> Iterator[IntervalRow]:
    """The mean of the group, and below it its losses, hollow."""
    yield IntervalRow(name=_ALL, estimate=_estimate(group.rank), series=look, group=group.name)
    for member in group.members:
        yield IntervalRow(
            name=member,
            estimate=Estimate(value=rank_of[member]),
            series=look,
            group=group.name,
            is_filled=False,
        )


def _estimate(interval: Interval) -> Estimate:
    return Estimate(value=interval.estimate, low=interval.low, high=interval.high)


def _row(group: LossGroup, series: Mapping[str, Series]) -> tuple[Cell, ...]:
    return (
        Cell(text=group.name),
        Cell.count(len(group.members)),
        Cell.number(group.rank.estimate),
        Cell.interval(group.rank.low, group.rank.high),
        Cell.number(group.score.estimate),
        Cell.interval(group.score.low, group.score.high),
        Cell.named(group.members[0], series),
        Cell.number(group.best_score),
    )


def _differences(found: LossGroups, metric: str) -> Table:
    num = found.differences[0].difference.num
    return Table(
        name="loss-group-differences",
        caption=f"Mean {metric} of one group minus that of another, over blocks; n = {num}"
        " independent groups of blocks",
        columns=(
            *Column.texts("Group", "Other group"),
            *Column.numbers("Difference", "95 % interval", "Standard error"),
        ),
        rows=tuple(
            (
                Cell(text=item.a),
                Cell(text=item.b),
                Cell.signed(item.difference.estimate),
                Cell.interval(item.difference.low, item.difference.high),
                Cell(text=number(item.difference.standard_error)),
            )
            for item in found.differences
        ),
    )

"""Groups of losses beside each other: those on embeddings against classification losses."""

from collections.abc import Iterator, Mapping

from analysis.estimates.confidence_intervals import FEWEST_VALUES
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Paragraph, Section, Table
from analysis.study_results.study_results import StudyResults
from analysis.tournament.loss_groups import GroupDifference, LossGroups
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.wording import MOST_NAMED, counted, listed, range_of, signed


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
            _table(found, tournament, series, metric),
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


def _table(
    found: LossGroups, tournament: Tournament, series: Mapping[str, Series], metric: str
) -> Table:
    blocks = counted(len(tournament.blocks), "block")
    return Table(
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
        rows=tuple(
            (
                Cell(text=group.name),
                Cell.count(len(group.members)),
                Cell.number(group.rank.estimate),
                Cell.interval(group.rank.low, group.rank.high),
                Cell.number(group.score.estimate),
                Cell.interval(group.score.low, group.score.high),
                Cell.named(group.members[0], series),
                Cell.number(group.best_score),
            )
            for group in found.groups
        ),
    )

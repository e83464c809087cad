"""Leaderboards: ranks over all blocks, of each data set and score, and of groups of losses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import polars as pl

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.report.fairness import fairness_note
from podium.analysis.scores.final_scores import IS_BASELINE
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.tournament.loss_groups import GroupDifference, LossGroups
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament, hold_tournament
from podium.analysis.wording import MOST_NAMED, counted, listed, number, range_of, signed
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import RankedScore

_ALL_DATA = "all"
_DATASET = "dataset"
_COMPETITOR = "loss"
_SCORE = "score"
_K = "k"


def leaderboard(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study: the table of ranks; None without a ranking."""
    if results.tournament is None:
        return None
    parts = _rank_parts(
        results.tournament,
        series,
        metric=f"{results.ranked_by.label},\N{NO-BREAK SPACE}%",
        aside=fairness_note(results),
    )
    return Section(name="ranking", title="Leaderboard", parts=parts)


def table_leaderboard(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The section of a published table."""
    parts = _rank_parts(results.tournament, series, metric=results.score)
    return Section(name="ranking", title="Leaderboard", parts=parts)


def _rank_parts(
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    metric: str,
    aside: Sequence[Part] = (),
) -> tuple[Part, ...]:
    """The table of ranks; where blocks lack scores, the order over all of them comes first.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        series: look of each competitor.
        metric: what the scores are, such as ``Recall@1, %``.
        aside: parts to be put below the table.
    """
    return (*_all_blocks(tournament, series), _table(tournament, series, metric), *aside)


def _table(tournament: Tournament, series: Mapping[str, Series], metric: str) -> Table:
    left_out = counted(len(tournament.excluded), "block")
    return table(
        tournament.standings,
        (
            Column.named("Competitor", "competitor", series),
            Column.number("Rank", "place", 0),
            Column.number("Average rank", "average_rank"),
            total_column(),
            Column.number("sd", "rank_std"),
            Column.number("Wins", "wins", 0),
            Column.number("Top\N{NO-BREAK SPACE}3", "top_three", 0),
            Column.number(f"Mean {metric}", "mean_score"),
        ),
        name="leaderboard",
        caption=f"Ranks within {counted(len(tournament.blocks), 'block')}, 1 is best; ties share"
        " their average rank; sd is the sample standard deviation."
        + (f" {left_out} left out." if tournament.excluded else ""),
    )


def total_column() -> Column:
    """The sum of the ranks of a standing, with a decimal where one is needed."""
    return Column.number(
        "Total",
        "total_rank",
        write=lambda rank, _: number(rank, 0 if float(rank or 0).is_integer() else 1),
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
            Column.number("Beaten by", "beaten_by", least_first=True),
            Column.count("Blocks", "num_blocks"),
        ),
        name="available-ranks",
        caption=f"All blocks, also the {counted(len(tournament.excluded), 'block')} left out of"
        " the ranking for missing scores",
        note="Rank sum: of ranks around the middle one, the lowest is first; a missing score"
        " counts as the middle. Beaten by: mean share of the others present that are better, 0 is"
        " first.",
    )


def rankings(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking, or with one data set and one score."""
    if results.tournament is None:
        return None
    by = results.tournament.by
    of_block = [name for name in by if name not in results.ranked_cells.columns]
    blocks = results.finals.select("block", *of_block).unique()
    found = [
        (dataset, score.label, held)
        for score, cells in _scores_of(results)
        for dataset, held in _by_dataset(
            cells.join(blocks, on="block").with_columns(pl.col(_SCORE) * PERCENT),
            by,
            _COMPETITOR,
            _SCORE,
        )
    ]
    return _rankings_section(found, series, unit=", %")


def table_rankings(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None with one data set and one K."""
    scored = results.table
    parts = {scored.score: scored.cells}
    if scored.every_k is not None:
        ks = sorted(scored.every_k[_K].unique(), key=lambda k: (k != scored.k, k))
        parts = {f"{scored.score}, K = {k}": scored.every_k.filter(pl.col(_K) == k) for k in ks}
    found = [
        (dataset, label, held)
        for label, cells in parts.items()
        for dataset, held in _by_dataset(cells, scored.by, scored.competitor, scored.score)
    ]
    return _rankings_section(found, series, unit="")


def _scores_of(results: StudyResults) -> list[tuple[RankedScore, pl.DataFrame]]:
    """The scores that ``podium tournament --score`` takes, that of the page first, with cells."""
    metrics = {results.objective: results.cells, **results.cells_without_k}
    scores = [
        *(RankedScore(results.objective, k) for k in results.ks),
        *map(RankedScore, results.cells_without_k),
    ]
    is_tuned = (pl.col("finalist") == "winner") & ~IS_BASELINE
    return [
        (score, metrics[score.metric].filter(is_tuned, pl.col("k") == score.k))
        for score in sorted(scores, key=lambda score: score != results.ranked_by)
    ]


def _by_dataset(
    cells: pl.DataFrame, by: Sequence[str], competitor: str, score: str
) -> Iterator[tuple[str, Tournament]]:
    """The tournaments that can be held, each of a data set, that of all first."""
    column = _DATASET if _DATASET in by else by[0]
    datasets = cells[column].unique().sort().to_list()
    for dataset in (None, *(datasets if len(datasets) > 1 else ())):
        part = cells if dataset is None else cells.filter(pl.col(column) == dataset)
        try:
            held = hold_tournament(part, by=by, competitor=competitor, score=score)
        except PodiumError:
            continue
        yield _ALL_DATA if dataset is None else str(dataset), held


def _rankings_section(
    found: Sequence[tuple[str, str, Tournament]], series: Mapping[str, Series], *, unit: str
) -> Section | None:
    if len(found) < 2:
        return None
    rows = [
        {"dataset": dataset, "score": score, "left_out": len(held.excluded), **asdict(standing)}
        for dataset, score, held in found
        for standing in held.standings
    ]
    ranks = table(
        rows,
        (
            Column.named("Competitor", "competitor", series),
            Column.text("Data set", "dataset", is_chosen=True),
            Column.text("Score", "score", is_chosen=True),
            Column.count("Rank", "place"),
            Column.number("Average rank", "average_rank"),
            total_column(),
            Column.count("Wins", "wins"),
            Column.number(f"Mean score{unit}", "mean_score"),
            Column.count("Blocks", "blocks"),
            Column.count("Left out", "left_out"),
        ),
        name="rankings-table",
        caption="Ranks within the blocks of one data set, or of all, by one score. Descriptive:"
        " podium tournament with --where and --score tests them.",
    )
    return Section(name="rankings", title="Rankings by data set and score", parts=(ranks,))


def loss_groups(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without two groups of ranked losses, as in old studies."""
    label = results.ranked_by.label
    return _groups_section(
        results.loss_groups, results.tournament, series, metric=f"{label}, %", word=label
    )


def table_loss_groups(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None unless groups were asked for."""
    return _groups_section(
        results.loss_groups,
        results.tournament,
        series,
        metric=results.score,
        word=results.score,
    )


def _groups_section(
    found: LossGroups | None,
    tournament: Tournament | None,
    series: Mapping[str, Series],
    *,
    metric: str,
    word: str,
) -> Section | None:
    if found is None or tournament is None:
        return None
    sentences = _group_sentences(found, tournament, f"points of {word}")
    groups = table(
        found.groups,
        (
            Column.text("Group", "name"),
            Column.count("Losses", lambda group: len(group.members)),
            Column.number("Mean rank", "rank.estimate"),
            Column.interval("95 % of the rank", "rank.low", "rank.high"),
            Column.number(f"Mean {metric}", "score.estimate"),
            Column.interval("95 % of the mean", "score.low", "score.high"),
            Column.named("Best loss", lambda group: group.members[0], series),
            Column.number(f"Its mean {metric}", "best_score"),
        ),
        name="loss-groups-table",
        caption="Groups of losses: mean rank and mean score of their losses over"
        f" {counted(len(tournament.blocks), 'block')}",
    )
    return Section(
        name="loss-groups",
        title="Groups of losses",
        parts=(*(Paragraph(text=text) for text in sentences), groups),
    )


def _group_sentences(found: LossGroups, tournament: Tournament, gap: str) -> Iterator[str]:
    yield " ".join(_difference_text(item, gap) for item in found.differences)
    units = tournament.block_units
    yield (
        units.why_untested
        or f"Intervals are Student's over {units.counted}, for the losses that are here, not for"
        " other losses of a group."
    )
    if found.ungrouped:
        yield f"In no group: {listed(found.ungrouped, most=MOST_NAMED)}."


def _difference_text(item: GroupDifference, gap: str) -> str:
    mean = item.difference
    interval = "" if mean.low is None else f" ({range_of(mean.low, mean.high)})"
    return f"{item.a} minus {item.b}: {signed(mean.estimate)} {gap}{interval} on average."

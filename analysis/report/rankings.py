"""Rankings of every data set by every score, of which the reader of the page chooses one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Section, Table
from analysis.scores.final_scores import BASELINE
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament, hold_tournament
from orchestrator.results.records.metric_columns import RankedScore
from podium.errors import PodiumError

_ALL = "all"
_DATASET = "dataset"
_COMPETITOR = "loss"
_SCORE = "score"
_K = "k"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranking:
    """The tournament of one data set, or of all, by one score."""

    dataset: str
    score: str
    held: Tournament


def rankings(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking, or with one data set and one score."""
    if results.tournament is None:
        return None
    by = results.tournament.by
    of_block = [name for name in by if name not in results.ranked_cells.columns]
    blocks = results.finals.select("block", *of_block).unique()
    found = [
        ranking
        for score, cells in _scores_of(results)
        for ranking in _by_dataset(
            cells.join(blocks, on="block").with_columns(pl.col(_SCORE) * PERCENT),
            by,
            _COMPETITOR,
            _SCORE,
            label=score.label,
        )
    ]
    return _section(found, series, unit=", %")


def table_rankings(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None with one data set and one K."""
    table = results.table
    parts = {table.score: table.cells}
    if table.every_k is not None:
        ks = sorted(table.every_k[_K].unique(), key=lambda k: (k != table.k, k))
        parts = {f"{table.score}, K = {k}": table.every_k.filter(pl.col(_K) == k) for k in ks}
    found = [
        ranking
        for label, cells in parts.items()
        for ranking in _by_dataset(cells, table.by, table.competitor, table.score, label=label)
    ]
    return _section(found, series, unit="")


def _scores_of(results: StudyResults) -> list[tuple[RankedScore, pl.DataFrame]]:
    """The scores that ``podium tournament --score`` takes, that of the page first, with cells."""
    metrics = {results.objective: results.cells, **results.cells_without_k}
    scores = [
        *(RankedScore(results.objective, k) for k in results.ks),
        *map(RankedScore, results.cells_without_k),
    ]
    is_tuned = (pl.col("finalist") == "winner") & (pl.col("loss") != BASELINE)
    return [
        (score, metrics[score.metric].filter(is_tuned, pl.col("k") == score.k))
        for score in sorted(scores, key=lambda score: score != results.ranked_by)
    ]


def _by_dataset(
    cells: pl.DataFrame, by: Sequence[str], competitor: str, score: str, *, label: str
) -> Iterator[_Ranking]:
    """The tournaments that can be held, that of all data sets first."""
    column = _DATASET if _DATASET in by else by[0]
    datasets = cells[column].unique().sort().to_list()
    for dataset in (None, *(datasets if len(datasets) > 1 else ())):
        part = cells if dataset is None else cells.filter(pl.col(column) == dataset)
        try:
            held = hold_tournament(part, by=by, competitor=competitor, score=score)
        except PodiumError:
            continue
        yield _Ranking(dataset=_ALL if dataset is None else str(dataset), score=label, held=held)


def _section(
    found: Sequence[_Ranking], series: Mapping[str, Series], *, unit: str
) -> Section | None:
    if len(found) < 2:
        return None
    labels = ("Rank", "Average rank", "Total", "Wins", f"Mean score{unit}", "Blocks", "Left out")
    table = Table(
        name="rankings-table",
        caption="Ranks within the blocks of one data set, or of all, by one score. Descriptive:"
        " podium tournament with --where and --score tests them.",
        columns=(
            *Column.texts("Competitor"),
            Column(label="Data set", is_number=False, is_chosen=True),
            Column(label="Score", is_number=False, is_chosen=True),
            *Column.numbers(*labels),
        ),
        rows=tuple(
            (
                Cell.named(standing.competitor, series),
                Cell.word(ranking.dataset),
                Cell.word(ranking.score),
                Cell.count(standing.place),
                Cell.number(standing.average_rank),
                Cell.number(standing.total_rank, 0 if standing.total_rank.is_integer() else 1),
                Cell.count(standing.wins),
                Cell.number(standing.mean_score),
                Cell.count(standing.blocks),
                Cell.count(len(ranking.held.excluded)),
            )
            for ranking in found
            for standing in ranking.held.standings
        ),
        is_sortable=True,
    )
    return Section(name="rankings", title="Rankings by data set and score", parts=(table,))

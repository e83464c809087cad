"""The cells that a page embeds, so that its readers can rank a part of them, or by another K."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.estimates.confidence_intervals import FEWEST_VALUES, t_reach
from analysis.estimates.distributions import studentized_range_quantile
from analysis.page.cells import Cells, CellScores, Factor, Units
from analysis.scores.compared_runs import compared_protocol
from analysis.scores.final_scores import BASELINE
from analysis.scores.score_grid import dimension_column
from analysis.scores.study_table import BLOCK_COLUMNS
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.tournament.block_groups import block_groups
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.typed_tables.every_score import ScoreOfTable
from orchestrator.results.records.metric_columns import RankedScore

_COMMAND = ("podium", "tournament")
_DEFAULT_STORAGE = "podium-results"
_LABELS = {
    "dataset": "Data set",
    "backbone": "Backbone",
    "embedding_dim": "Dimension",
    "image_size": "Image size",
}
_K = "k"
_DIMENSION = "embedding_dim"

# Names that no column of a user's table has.
_COMPETITOR = "__competitor"
_SCORE = "__score"
_ROW = "__row"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """Cells of one score: columns of blocks, of competitors, and of scores."""

    label: str
    arguments: tuple[str, ...]
    cells: pl.DataFrame
    k: int | None
    drops_unscored: bool = False


def study_cells(results: StudyResults) -> Cells | None:
    """The cells of a study at every score that it can be ranked by; None with a single block."""
    if results.tournament is None:
        return None
    by = results.tournament.by
    sizes = results.finals.select("block", *(name for name in by if name not in BLOCK_COLUMNS))
    scored = [
        _Scored(
            label=score.label,
            arguments=() if score == results.declared_score else ("--score", score.name),
            k=score.k or None,
            cells=found.join(sizes.unique(), on="block").select(
                *by, pl.col("loss").alias(_COMPETITOR), pl.col("score").alias(_SCORE)
            ),
        )
        for score, found in _study_scores(results)
    ]
    shown = [score for score, _ in _study_scores(results)].index(results.ranked_by)
    storage = str(results.study.get("storage", _DEFAULT_STORAGE)).rstrip("/")
    usual = compared_protocol(results.protocols)
    stated = () if results.protocol == usual else ("--where", f"protocol={results.protocol.label}")
    return _cells(
        scored,
        by=by,
        tournament=results.tournament,
        command=(*_COMMAND, f"{storage}/{results.name}", *stated),
        shown=shown,
        num_every_k=sum(one.k is not None for one in scored),
        dimension=_DIMENSION,
        scale=PERCENT,
    )


def _study_scores(results: StudyResults) -> list[tuple[RankedScore, pl.DataFrame]]:
    """The scores that ``podium tournament --score`` takes, with the cells of tuned losses."""
    metrics = {results.objective: results.cells, **results.cells_without_k}
    scores = (
        *(RankedScore(results.objective, k) for k in results.ks),
        *map(RankedScore, results.cells_without_k),
    )
    is_tuned = (pl.col("finalist") == "winner") & (pl.col("loss") != BASELINE)
    found = [
        (score, metrics[score.metric].filter(is_tuned, pl.col("k") == score.k)) for score in scores
    ]
    return [(score, cells) for score, cells in found if len(cells)]


def table_cells(
    results: TableResults, command: Sequence[str], every_score: Sequence[ScoreOfTable] = ()
) -> Cells | None:
    """The cells of a published table by every score at every K; None with a single block.

    Args:
        results: the table and its tournament.
        command: words of the command that ranks the table, but for those of a score.
        every_score: the scores of the file, the ranked one first; () for that alone.
    """
    tables = every_score or (ScoreOfTable(table=results.table, arguments=()),)
    scored = [one for found in tables for one in _table_scores(found)]
    own = len(_table_scores(tables[0]))
    shown = [one.k for one in scored[:own]].index(results.table.k)
    return _cells(
        scored,
        by=results.table.by,
        tournament=results.tournament,
        command=command,
        shown=shown,
        num_every_k=own,
        dimension=dimension_column(results.table),
        scale=1,
    )


def _table_scores(found: ScoreOfTable) -> list[_Scored]:
    """The cells of one score of a table at every K."""
    table = found.table
    every_k = None if table.k is None else table.every_k
    ks = [table.k] if every_k is None else sorted(every_k[_K].unique())
    return [
        _Scored(
            label=table.score if k is None else f"{table.score}, K = {k}",
            arguments=(*found.arguments, *(() if k is None else ("--where", f"k={k}"))),
            cells=(table.cells if every_k is None else every_k.filter(pl.col(_K) == k))
            .select(*table.by, table.competitor, table.score)
            .rename({table.competitor: _COMPETITOR, table.score: _SCORE}),
            k=k,
            drops_unscored=not (table.run_columns and every_k is not None),
        )
        for k in ks
    ]


def _cells(
    scored: Sequence[_Scored],
    *,
    by: Sequence[str],
    tournament: Tournament,
    command: Sequence[str],
    shown: int,
    num_every_k: int,
    dimension: str | None,
    scale: int,
) -> Cells | None:
    keys = pl.concat(one.cells.select(by) for one in scored).unique().sort(by)
    if len(keys) < 2:
        return None
    names = sorted({str(name) for one in scored for name in one.cells[_COMPETITOR].unique()})
    factors = [_factor(name, keys[name]) for name in by]
    blocks = tuple("/".join(map(str, key)) for key in keys.rows())
    scores = tuple(_scores(one, keys, names) for one in scored)
    return Cells(
        command=tuple(command),
        factors=tuple(factor for factor in factors if len(factor.choices) > 1),
        blocks=blocks,
        competitors=tuple(names),
        scores=scores,
        shown=shown,
        every_k=tuple(at for at in range(num_every_k) if scores[at].k is not None),
        dimension=dimension,
        scale=scale,
        units=_units(tournament, keys, blocks, scores),
    )


def _units(
    tournament: Tournament,
    keys: pl.DataFrame,
    blocks: Sequence[str],
    scores: Sequence[CellScores],
) -> Units | None:
    """None where the tests ask about runs, whose scores the page does not have."""
    if tournament.question == "these_blocks":
        return None
    groups = block_groups(keys.to_dicts(), blocks)
    number = {name: position for position, name in enumerate(groups.names)}
    most = len(scores[0].values) // len(blocks)
    return Units(
        groups=tuple(number[label] for label in groups.labels),
        alpha=tournament.alpha,
        reaches=tuple(t_reach(num - 1) for num in range(FEWEST_VALUES, groups.number + 1)),
        ranges={
            num: studentized_range_quantile(tournament.alpha, num)
            for num in range(max(3, _fewest(scores, len(blocks))), most + 1)
        },
    )


def _fewest(scores: Sequence[CellScores], num_blocks: int) -> int:
    """How many competitors have a score in the block where the fewest have: no choice has less."""
    present = [np.array(one.values, dtype=float).reshape(num_blocks, -1) for one in scores]
    return min(int(np.isfinite(values_BC).sum(axis=1).min()) for values_BC in present)


def _factor(name: str, values: pl.Series) -> Factor:
    return Factor(
        name=name,
        label=_LABELS.get(name, name),
        values=tuple(values.cast(pl.String).to_list()),
    )


def _scores(one: _Scored, keys: pl.DataFrame, names: Sequence[str]) -> CellScores:
    column = {name: position for position, name in enumerate(names)}
    placed = one.cells.join(
        keys.with_row_index(_ROW), on=keys.columns, nulls_equal=True, how="left"
    )
    is_present_BC = np.zeros((len(keys), len(names)), dtype=bool)
    scores_BC = np.full(is_present_BC.shape, np.nan)
    rows = placed[_ROW].to_list()
    columns = [column[str(name)] for name in placed[_COMPETITOR]]
    is_present_BC[rows, columns] = True
    scores_BC[rows, columns] = placed[_SCORE].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return CellScores(
        label=one.label,
        arguments=one.arguments,
        k=one.k,
        drops_unscored=one.drops_unscored,
        values=tuple(None if np.isnan(v) else v for v in scores_BC.ravel().tolist()),
        absent=tuple(np.flatnonzero(~is_present_BC).tolist()),
    )

"""The sections of the page of a published table."""

from collections.abc import Iterator, Mapping

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fold, Heading, Part, Section, Table
from analysis.report.block_scores import block_scores
from analysis.report.leaderboard import rank_parts
from analysis.report.pairwise_comparisons import pair_parts, pair_section
from analysis.report.score_tables import Scale, arrange, block_tables, k_tables, widest
from analysis.report.scores import k_figures, score_figures
from analysis.scores.score_grid import every_k_grid, table_grid
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.wording import counted

_MOST_COLUMNS = 24  # of blocks beside each other


def table_leaderboard(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The table of ranks with its uncertainty."""
    parts = rank_parts(results.tournament, results.stability, series, metric=results.score)
    return Section(name="ranking", title="Leaderboard", parts=parts)


def table_pairwise_comparisons(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The critical-difference diagram and all pairs."""
    return pair_section(pair_parts(results.tournament, series))


def table_scores(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The table itself, as papers print it, and figures of it.

    A table of very many blocks has its blocks below each other instead.
    """
    grid = table_grid(results.table)
    word = _score_word(results)
    printed = block_tables(grid, series, Scale(word=word, heads={}), name="scores")
    if widest(printed) > _MOST_COLUMNS:
        printed = (_score_table(results.tournament, series, score=results.score),)
    return Section(
        name="table",
        title="Scores",
        parts=(
            *arrange(printed),
            Heading(text="Scores by block"),
            block_scores(results.tournament, results.runs, series, word=_score_word(results)),
            *score_figures(grid, series, word=word[0].upper() + word[1:]),
            *_every_k(results, series),
        ),
    )


def _score_word(results: TableResults) -> str:
    """``recall``, or ``recall@1`` where the file says of which K."""
    k = results.table.k
    return results.score if k is None else f"{results.score}@{k}"


def _every_k(results: TableResults, series: Mapping[str, Series]) -> Iterator[Part]:
    """Figures and tables of the scores at all K of the file."""
    grid = every_k_grid(results.table)
    if grid is None:
        return
    yield from k_figures(grid, series, word=f"{results.score[0].upper()}{results.score[1:]}@K")
    heads = {k: f"@{k}" for k in sorted(grid.rows["k"].unique().to_list())}
    scale = Scale(word=f"{results.score} at every K of the file", heads=heads)
    yield Fold(summary="Every K", parts=k_tables(grid, series, scale, name="every-k"))


def _score_table(tournament: Tournament, series: Mapping[str, Series], *, score: str) -> Table:
    """Rows blocks, columns competitors, best first; the best of each block in bold."""
    rows = [
        (
            Cell.word(label),
            *(
                Cell.number(float(value), is_best=bool(value == scores_C.max()))
                for value in scores_C
            ),
        )
        for label, scores_C in zip(tournament.block_labels, tournament.scores_BC, strict=True)
    ]
    return Table(
        name="scores",
        caption=f"{score}: the {counted(tournament.scores_BC.size, 'score')} ranked; the best of"
        " each block is bold",
        columns=(*Column.texts("/".join(tournament.by)), *Column.named(tournament.names, series)),
        rows=tuple(rows),
        is_sortable=True,
    )

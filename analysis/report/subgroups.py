"""Subgroups: the ranking at each K and within each backbone, data set and dimension."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from analysis.estimates.ranks import Standing
from analysis.figures.matrix import MatrixText, Scale, matrix_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.study_results.study_results import StudyResults
from analysis.tournament.subgroups import Subgroup, rank_subgroups
from analysis.tournament.table_tournament import TableResults
from analysis.wording import MISSING, counted

_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_WORDS = {
    "k": "K",
    "dataset": "Data set",
    "backbone": "Backbone",
    "embedding_dim": "Dimension",
    "image_size": "Image size",
}


def subgroups(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking, or if no factor has several values."""
    tournament = results.tournament
    if tournament is None:
        return None
    sizes = results.trials.select("block", "image_size").unique()
    won = results.ranked_cells.filter(pl.col("finalist") == "winner")
    won = won.join(sizes, on="block", how="left")
    found = tuple(
        one
        for factor in ("k", *_FACTORS)
        for one in _several(
            won if factor == "k" else won.filter(pl.col("k") == results.ranked_by.k),
            factor=factor,
            by=("block",),
            competitor="loss",
            score="score",
        )
    )
    return _section(found, tournament.names, series, primary=results.ranked_by.label)


def table_subgroups(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None if no factor of its blocks has several values."""
    table = results.table
    found = tuple(
        one
        for factor in table.by
        for one in _several(
            table.cells, factor=factor, by=table.by, competitor=table.competitor, score=table.score
        )
    )
    return _section(found, results.tournament.names, series, primary=table.score)


def _several(
    table: pl.DataFrame, *, factor: str, by: Sequence[str], competitor: str, score: str
) -> tuple[Subgroup, ...]:
    """The subgroups of a factor; none if it has a single value or one for each block."""
    count = table[factor].n_unique()
    if count < 2 or (factor != "k" and count == table.select(by).n_unique()):
        return ()
    return rank_subgroups(table, factor=factor, by=by, competitor=competitor, score=score)


def _section(
    found: Sequence[Subgroup], names: Sequence[str], series: Mapping[str, Series], *, primary: str
) -> Section | None:
    if not found:
        return None
    return Section(
        name="slices",
        title="Subgroups",
        parts=(
            Paragraph(text=" ".join(_sentences(found, names[0]))),
            _figure(found, names, _table(found, names, series, primary)),
        ),
    )


def _figure(found: Sequence[Subgroup], names: Sequence[str], table: Table) -> Illustration:
    by_name = [one.standing_of for one in found]
    ranks_CS = np.array(
        [[_average_rank(standing_of.get(name)) for standing_of in by_name] for name in names]
    )
    num = counted(len(found), "subgroup")
    return Illustration(
        name="slices-figure",
        plots=(
            matrix_plot(
                names,
                [_words(one) for one in found],
                ranks_CS,
                Scale(
                    label="Average rank within the subgroup (1 is best)",
                    start=len(names),
                    end=1,
                ),
                MatrixText(
                    joint="in",
                    details=tuple(
                        tuple(counted(one.num_blocks, "block") for one in found) for _ in names
                    ),
                ),
                name="slices-plot",
                title="Average rank of each competitor in each subgroup",
                description=f"{len(names)} rows of competitors, best on average at the top, and"
                f" {num} as columns; the darker a cell, the better the rank.",
            ),
        ),
        caption=f"Average rank of each competitor in each of {num}.",
        table=table,
    )


def _average_rank(standing: Standing | None) -> float:
    return np.nan if standing is None else standing.average_rank


def _sentences(found: Sequence[Subgroup], leader: str) -> Iterator[str]:
    ranked = [one for one in found if one.standings]
    elsewhere = [
        f"{_words(one)} ({' and '.join(firsts)})"
        for one in ranked
        if leader not in (firsts := [s.competitor for s in one.standings if s.place == 1])
    ]
    first = len(ranked) - len(elsewhere)
    where = f"; not in {', '.join(elsewhere)}" if elsewhere else ""
    yield f"{leader} is first in {first} of {counted(len(ranked), 'subgroup')}{where}."
    yield "Subgroups share runs and images: they show where an order holds, and test nothing."


def _words(one: Subgroup) -> str:
    return f"{_WORDS.get(one.factor, one.factor)} {one.value}"


def _table(
    found: Sequence[Subgroup], names: Sequence[str], series: Mapping[str, Series], primary: str
) -> Table:
    by_name = [one.standing_of for one in found]
    left_out = sum(one.num_excluded for one in found)
    other_k = ", under K by each," if any(one.factor == "k" for one in found) else ""
    return Table(
        name="slices-table",
        caption=f"Average rank by {primary}{other_k} within the blocks of each column, below it"
        " the rank; n\N{NO-BREAK SPACE}= blocks"
        + (f"; {counted(left_out, 'incomplete block')} left out" if left_out else ""),
        columns=(
            *Column.texts("Competitor"),
            *(
                Column(
                    label=f"{one.value} (n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{one.num_blocks})",
                    group=_WORDS.get(one.factor, one.factor),
                    least_first=True,
                )
                for one in found
            ),
        ),
        rows=tuple(
            (Cell.named(name, series), *(_cell(standing_of.get(name)) for standing_of in by_name))
            for name in names
        ),
        note=""
        if all(len(standing_of) == len(names) for standing_of in by_name)
        else "Subgroups in which a competitor has no score rank the others; their ranks are not"
        " comparable with those of other subgroups.",
        is_sortable=True,
    )


def _cell(standing: Standing | None) -> Cell:
    if standing is None:
        return Cell(text=MISSING)
    return Cell.number(
        standing.average_rank,
        detail=f"rank\N{NO-BREAK SPACE}{standing.place}",
        is_best=standing.place == 1,
    )

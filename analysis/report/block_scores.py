"""Scores of every block: the mean of each competitor, and every run as a dot.

B blocks, C competitors, U runs.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.tournament.block_runs import RunScores
from analysis.tournament.tournament import Tournament
from analysis.wording import counted, number

_DATASET = "dataset"
_MOST_TOGETHER = 16  # blocks in one plot, whatever their data sets
_MOST_DETAILED = 12  # competitors whose runs are written into the table


def block_scores(
    tournament: Tournament, runs: RunScores, series: Mapping[str, Series], *, word: str
) -> Illustration:
    """One line a block; of many blocks one data set at a time.

    Args:
        tournament: the tournament whose scores are shown.
        runs: scores of its runs, U x C of each block.
        series: look of each competitor.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    has_datasets = _DATASET in tournament.by and len(tournament.blocks) > _MOST_TOGETHER
    members: dict[str, list[int]] = {}
    for b, block in enumerate(tournament.blocks):
        members.setdefault(str(block[_DATASET]) if has_datasets else "", []).append(b)
    looks = [series[name] for name in tournament.names]
    has_runs = any(len(scores_UC) > 1 for scores_UC in runs)
    dots = "; small dots: its runs" if has_runs else ""
    others = "" if all(it.position is not None for it in looks) else "; grey: all others"
    return Illustration(
        name="block-scores",
        plots=tuple(
            _plot(tournament, runs, looks, blocks, dataset, position=position, word=word)
            for position, (dataset, blocks) in enumerate(members.items())
        ),
        legend=tuple(look for look in looks if look.position is not None),
        selector="Data set" if len(members) > 1 else "",
        caption=f"Score of each competitor in each of {counted(len(tournament.blocks), 'block')}"
        f"{dots}{others}.",
        table=_table(tournament, runs, series, word),
    )


def _plot(
    tournament: Tournament,
    runs: RunScores,
    looks: list[Series],
    blocks: list[int],
    dataset: str,
    *,
    position: int,
    word: str,
) -> Plot:
    rows = [
        IntervalRow(
            name=_short(tournament, b) if dataset else tournament.block_labels[b],
            series=look,
            estimate=Estimate(value=float(tournament.scores_BC[b, c])),
            dots=_dots(runs[b][:, c]),
        )
        for b in blocks
        for c, look in reversed(list(enumerate(looks)))  # the best lies on top
    ]
    return intervals_plot(
        rows,
        IntervalAxis(label=word),
        IntervalWords(value=word, dots="runs"),
        name=f"block-scores-{position}",
        title=f"Scores by block{dataset and f' of {dataset}'}",
        description="One line for each block with the score of each competitor and of its runs."
        " The numbers are in the table.",
        label=dataset,
    )


def _short(tournament: Tournament, b: int) -> str:
    """The label of a block without its data set, unless that is all of it."""
    parts = [str(value) for key, value in tournament.blocks[b].items() if key != _DATASET]
    return "/".join(parts) or tournament.block_labels[b]


def _dots(scores_U: NDArray[np.float64]) -> tuple[float, ...]:
    """The runs of a cell; none of a single one, which is its score."""
    known = scores_U[np.isfinite(scores_U)]
    return tuple(known.tolist()) if len(known) > 1 else ()


def _table(
    tournament: Tournament, runs: RunScores, series: Mapping[str, Series], word: str
) -> Table:
    is_detailed = len(tournament.names) <= _MOST_DETAILED
    rows = tuple(
        (
            Cell.word(label),
            *(
                Cell.number(
                    float(score),
                    detail=", ".join(map(number, _dots(runs[b][:, c]))) if is_detailed else "",
                )
                for c, score in enumerate(tournament.scores_BC[b])
            ),
        )
        for b, label in enumerate(tournament.block_labels)
    )
    has_details = any(cell.detail for row in rows for cell in row)
    return Table(
        name="block-scores-table",
        caption=f"{word}, by block{', with the runs below' if has_details else ''}",
        columns=(*Column.texts("Block"), *Column.named(tournament.names, series)),
        rows=rows,
        is_sortable=True,
    )

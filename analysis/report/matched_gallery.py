"""Validation and test in matched galleries: test among as few classes as validation has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fold, Paragraph, Part, Section, Table
from analysis.selection.matched_gallery import DRAWS, MatchedRecall, matched_recall
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, range_of, signed

_MOST_SHOWN = 12  # rows of a table that is not folded
_MOST_NETWORKS = 30  # networks that are read: embeddings are large
_MOST_IMAGES = 20_000  # of a test set: time grows with their square


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One network; its recalls are shares of 1."""

    block: str
    loss: str
    num_classes: int
    validation: float
    matched: MatchedRecall
    test: float


def matched_gallery(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None where no embeddings were kept, or images are not searched by class.

    Test sets of more than 20,000 images are left out.
    """
    if not results.is_by_class:
        return None
    rows, num_blocks = _rows(results)
    if not rows:
        return None
    return Section(
        name="matched",
        title="Validation and test in matched galleries",
        label="Matched galleries",
        parts=(
            Paragraph(text=_summary(rows, results.metric)),
            *_folded(_table(rows, series, results, num_blocks)),
        ),
    )


def _folded(table: Table) -> tuple[Part, ...]:
    """A long table is folded."""
    if len(table.rows) <= _MOST_SHOWN:
        return (table,)
    return (Fold(summary=f"All {len(table.rows)} networks", parts=(table,)),)


def _rows(results: StudyResults) -> tuple[list[_Row], int]:
    """Of the first run of each tuned loss, of as many whole blocks as may be read."""
    networks = _networks(results)
    blocks = networks["block"].unique().sort().to_list()
    rows: list[_Row] = []
    num_read = 0
    for block in blocks:
        of_block = networks.filter(pl.col("block") == block)
        if num_read and num_read + of_block.height > _MOST_NETWORKS:
            break
        num_read += of_block.height
        rows += [row for network in of_block.to_dicts() if (row := _row(results, network))]
    return rows, len(blocks)


def _networks(results: StudyResults) -> pl.DataFrame:
    """The first run of each block and tuned loss: its validation, its test, its classes."""
    runs = results.winners.filter(pl.col("state") == "COMPLETE").sort(
        "block", "loss", "repeat", "seed_index", "fold", "trial_id"
    )
    first = runs.unique(subset=["block", "loss"], keep="first", maintain_order=True).select(
        "block",
        "loss",
        "trial_id",
        "same_as",
        pl.col(results.validation_column).alias("validation"),
    )
    is_objective = (pl.col("metric") == results.objective) & (pl.col("k") == results.k)
    is_small = pl.col("gallery") <= _MOST_IMAGES
    tests = (
        results.reader.test_scores()
        .filter(is_objective, is_small)
        .select("trial_id", "value", "gallery")
    )
    sizes = (
        results.reader.final_hits()
        .join(first.lazy().select("trial_id"), on="trial_id", how="semi")
        .group_by("trial_id")
        .agg(pl.col("class_id").n_unique().alias("num_classes"))
    )
    return (
        first.lazy()
        .join(tests.unique(subset="trial_id"), on="trial_id")
        .join(sizes, on="trial_id")
        .drop_nulls(["validation", "value", "num_classes"])
        .sort("block", "loss")
        .collect()
    )


def _row(results: StudyResults, network: Mapping[str, Any]) -> _Row | None:
    """None without embeddings, or where queries are searched in a gallery of their own."""
    names = [network[name] for name in ("trial_id", "same_as") if network[name]]
    found = (results.reader.test_embeddings(name) for name in names)
    stored = next((item for item in found if item is not None), None)
    if stored is None or len(stored.labels_N) != network["gallery"]:
        return None
    recall = matched_recall(
        stored.embeddings_ND,
        stored.labels_N,
        k=results.k,
        num_classes=network["num_classes"],
        by_direction=stored.by_direction,
    )
    if recall is None:
        return None
    return _Row(
        block=network["block"],
        loss=network["loss"],
        num_classes=network["num_classes"],
        validation=network["validation"],
        matched=recall,
        test=network["value"],
    )


def _summary(rows: list[_Row], metric: str) -> str:
    gap = PERCENT * sum(row.validation - row.test for row in rows) / len(rows)
    size = PERCENT * sum(row.matched.mean - row.test for row in rows) / len(rows)
    return (
        f"Validation minus test {metric} is {signed(gap)} points on average. Among as few test"
        f" classes as validation has, test is {signed(size)} points: that much is the effect of"
        f" the gallery's size. The rest, {signed(gap - size)} points, is the difficulty of the"
        " classes"
        " and the optimism of selecting epoch and config."
    )


def _table(
    rows: list[_Row], series: Mapping[str, Series], results: StudyResults, num_blocks: int
) -> Table:
    shown = len({row.block for row in rows})
    labels = ("Validation", "Test, so few classes", "Test", "Gallery", "Rest", "Classes")
    return Table(
        name="matched-table",
        caption=f"{results.metric} of the first run of each tuned loss, in %: on validation, on"
        f" test within random draws of as many test classes as validation has ({DRAWS} draws;"
        " below, where 95 of 100 draws lie), and on all test classes"
        f" ({counted(shown, 'block')} of {num_blocks})",
        columns=(*Column.texts("Block", "Loss"), *Column.numbers(*labels)),
        rows=tuple(_cells(row, series) for row in rows),
        note="Gallery: test among so few classes minus test. Rest: validation minus test among so"
        " few classes. A validation score within the range of the draws is no better than so few"
        " classes reach by chance.",
        is_sortable=True,
    )


def _cells(row: _Row, series: Mapping[str, Series]) -> tuple[Cell, ...]:
    validation, mean, test = (PERCENT * v for v in (row.validation, row.matched.mean, row.test))
    ends = range_of(PERCENT * row.matched.low, PERCENT * row.matched.high)
    return (
        Cell.word(row.block),
        Cell.named(row.loss, series),
        Cell.number(validation),
        Cell.number(mean, detail=ends),
        Cell.number(test),
        Cell.signed(mean - test),
        Cell.signed(validation - mean),
        Cell.count(row.num_classes),
    )

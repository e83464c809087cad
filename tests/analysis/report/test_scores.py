"""The section of recall, of classes and of continuous labels."""

import polars as pl

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Fold, Illustration, SideBySide
from podium.analysis.page.tables import Table
from podium.analysis.report.scores import scores
from podium.analysis.scores.ranked_score import RankedScore
from tests.analysis.changed_results import with_views


def parts_of(results, kind):
    section = scores(results, series_of(results.losses))
    return [part for part in section.parts if isinstance(part, kind)]


def shown(table, loss):
    (row,) = [row for row in table.rows if row[0].text == loss]
    return [cell.text for cell in row[1:]]


def test_the_primary_k_is_shown_and_every_k_is_folded(synthetic_results):
    (table,) = parts_of(synthetic_results, Table)
    (fold,) = parts_of(synthetic_results, Fold)
    cells = synthetic_results.cells.filter(
        pl.col("finalist") == "winner",
        pl.col("loss") == "contrastive",
        pl.col("dataset") == "glyphs-armenian",
    ).sort("embedding_dim", "k")

    primary = cells.filter(pl.col("k") == 1)["score"].to_list()
    assert table.groups[1] == ("glyphs-armenian, conv_small", len(primary))
    found = shown(table, "contrastive")[: len(primary)]
    assert found == [f"{100 * score:.2f}" for score in primary]
    every = [f"{100 * score:.2f}" for score in cells["score"].to_list()]
    assert shown(fold.parts[0], "contrastive") == every
    assert [column.label for column in fold.parts[0].columns[1:5]] == ["R@1", "R@2", "R@4", "R@8"]


def test_a_study_of_two_dimensions_and_one_backbone_has_no_figure_of_backbones(
    synthetic_results,
):
    names = [figure.name for figure in parts_of(synthetic_results, Illustration)]
    assert names[:2] == ["block-scores", "by-dimension"]
    assert "by-backbone" not in names


def test_continuous_labels_show_ndcg_in_percent_and_distances_as_they_are(synthetic_results):
    distances = synthetic_results.cells.with_columns(
        pl.col("score") / 1000, pl.col("seed_std") / 1000
    )
    continuous = with_views(
        synthetic_results,
        objective="ndcg",
        score=RankedScore("ndcg", 1),
        ranked_cells=synthetic_results.cells,
        further_cells={"mean_label_distance": distances},
    )
    (table,) = parts_of(continuous, Table)
    (fold,) = parts_of(continuous, Fold)
    by_name = {table.name: table for table in fold.parts}
    near = by_name["every-k-mean-label-distance-0"]

    assert table.caption.startswith("nDCG@1 in %")
    assert [column.label for column in near.columns[1:3]] == [
        "mean label distance@1",
        "mean label distance@2",
    ]
    best = {row[0].text for row in near.rows for cell in row if cell.is_best}
    assert best == {"contrastive"}  # the lowest score is the least distance
    assert all(len(text.split(".")[1]) == 4 for text in shown(near, "contrastive"))
    assert parts_of(continuous, Illustration)[1].caption.startswith("nDCG@1, %")


def test_a_study_without_finals_has_no_table(synthetic_results):
    empty = with_views(synthetic_results, cells=synthetic_results.cells.clear())

    for kind in (Table, SideBySide):
        assert parts_of(empty, kind) == []

"""Figures of scores against dimension and across backbones show what they were given."""

import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.report.scores import score_figure
from podium.analysis.scores.score_grid import ScoreGrid, table_grid
from tests.analysis import thesis_cub200
from tests.analysis.thesis_cub200 import RECALLS

LOOKS = series_of(["a", "b"])


@pytest.fixture(scope="module")
def thesis_grid():
    table = thesis_cub200.score_table()
    return table_grid(table)


def looks(grid):
    return series_of(grid.rows["loss"])


def test_the_thesis_has_a_panel_for_each_backbone_and_for_each_dimension(thesis_grid):
    by_dimension = score_figure(thesis_grid, looks(thesis_grid), "dim", word="Recall@1, %")
    by_backbone = score_figure(thesis_grid, looks(thesis_grid), "backbone", word="Recall@1, %")

    assert len(by_dimension.plots) == 3
    assert len(by_backbone.plots) == 4
    assert "n = 120 scores" in by_dimension.caption
    assert by_dimension.plots[1].label == "CUB200-2011, GoogLeNet"
    assert by_backbone.plots[3].label == "CUB200-2011, 1024 dimensions"


def test_the_thesis_figure_has_every_score_at_its_dimension(thesis_grid):
    published = {
        (row["backbone"], row["loss"], row["embedding_dim"]): row["recall"]
        for row in pl.read_csv(RECALLS).filter(pl.col("k") == 1).to_dicts()
    }
    figure = score_figure(thesis_grid, looks(thesis_grid), "dim", word="Recall@1, %")
    drawn = {
        (plot.label.removeprefix("CUB200-2011, "), line["name"], int(dim)): score
        for plot in figure.plots
        for line in plot.values["lines"]
        for dim, score in zip(plot.values["xs"][line["xs"]], line["y"], strict=True)
    }

    assert drawn == published
    assert figure.plots[0].values["x"]["scale"] == "log"


def test_scores_by_k_have_a_panel_for_each_block():
    rows = [
        {"backbone": "net", "dim": dim, "k": k, "loss": loss, "score": 10.0 * k + dim}
        for dim in (1.0, 2.0)
        for k in (1, 4)
        for loss in "ab"
    ]
    found = score_figure(grid(*rows), LOOKS, "k", word="Recall@K, %")

    assert [plot.label for plot in found.plots] == ["x, net, 1 dimensions", "x, net, 2 dimensions"]
    assert found.plots[0].values["xs"] == [[1.0, 4.0]]
    assert found.plots[0].values["lines"][0]["y"] == [11.0, 41.0]
    assert (
        score_figure(grid(*(row for row in rows if row["k"] == 1)), LOOKS, "k", word="R") is None
    )


def grid(*rows):
    full = [
        {
            "place": "x",
            "loss": "a",
            "k": 1,
            "std": None,
            "num_runs": 1,
            "is_baseline": False,
            **row,
        }
        for row in rows
    ]
    return ScoreGrid(rows=pl.DataFrame(full), run_noun="seed")


def test_one_dimension_and_one_backbone_have_no_figure():
    single = grid({"backbone": "net", "dim": 64.0, "score": 50.0})

    assert score_figure(single, LOOKS, "dim", word="R") is None
    assert score_figure(single, LOOKS, "backbone", word="R") is None


def test_two_dimensions_of_different_backbones_cannot_be_compared():
    crossed = grid(
        {"backbone": "net", "dim": 64.0, "score": 50.0},
        {"backbone": "other", "dim": 128.0, "score": 50.0},
    )

    assert score_figure(crossed, LOOKS, "dim", word="R") is None
    assert score_figure(crossed, LOOKS, "backbone", word="R") is None


def test_the_untrained_network_and_cells_without_a_score_are_not_drawn():
    base = {"backbone": "net", "score": 50.0}
    found = score_figure(
        grid(
            {**base, "dim": 64.0},
            {**base, "dim": 128.0},
            {**base, "dim": 64.0, "loss": "b"},
            {**base, "dim": 128.0, "loss": "b", "score": None},
            {**base, "dim": 64.0, "loss": "untrained", "is_baseline": True, "score": 1.0},
        ),
        LOOKS,
        "dim",
        word="R",
    )

    assert [line["name"] for line in found.plots[0].values["lines"]] == ["a", "b"]
    assert found.plots[0].values["lines"][1]["y"] == [50.0, None]


def test_bands_reach_one_deviation_to_either_side():
    base = {"backbone": "net", "score": 50.0}
    rows = [{**base, "dim": 64.0, "std": 10.0}, {**base, "dim": 128.0}]
    (line,) = score_figure(grid(*rows), LOOKS, "dim", word="R").plots[0].values["lines"]

    assert (line["low"], line["high"]) == ([40.0, None], [60.0, None])


def test_of_many_panels_one_is_shown_at_a_time():
    def figure(count):
        rows = [
            {"place": f"data{place}", "backbone": "net", "dim": dim, "score": 50.0}
            for place in range(count)
            for dim in (64.0, 128.0)
        ]
        return score_figure(grid(*rows), LOOKS, "dim", word="R")

    assert figure(6).selector == ""
    assert figure(7).selector == "Setting"

"""Figures of scores against dimension and across backbones show what they were given."""

import re
import xml.etree.ElementTree as ET

import polars as pl
import pytest

from analysis.figures.score_lines import Level, ScoreLine, draw_score_lines
from analysis.figures.series import series_of
from analysis.report.score_lines import backbone_figure, dimension_figure
from analysis.scores.score_grid import ScoreGrid, table_grid
from tests.analysis import thesis_cub200
from tests.analysis.page_text import svg_texts
from tests.analysis.thesis_cub200 import RECALLS

LOOKS = series_of(["a", "b"])
LEVELS = [Level(position=6, label="64"), Level(position=7, label="128")]
MARKER = "stroke: var(--series-"


def panel(*lines, levels=LEVELS, y_range=(0.0, 100.0)):
    return draw_score_lines(
        lines,
        levels,
        title="x",
        x_label="Embedding dimension",
        y_label="Recall@1, %",
        y_range=y_range,
        name="p",
    )


def line(name, scores, stds=None):
    stds = tuple(stds) if stds else (None,) * len(scores)
    return ScoreLine(series=LOOKS[name], scores=tuple(scores), stds=stds)


def points(svg, name):
    """Places of the markers of one loss."""
    colour = LOOKS[name].css_colour
    return [
        (float(use.get("x")), float(use.get("y")))
        for use in ET.fromstring(svg).iter("use")
        if f"fill: {colour};" in use.get("style", "")
    ]


@pytest.fixture(scope="module")
def thesis_grid():
    table = thesis_cub200.score_table()
    return table_grid(table)


def looks(grid):
    return series_of(grid.rows["loss"])


def test_better_scores_stand_higher_and_larger_levels_to_the_right():
    (first, second), (third, _) = (
        points(panel(line("a", [20, 40]), line("b", [60, 60])), name) for name in "ab"
    )

    assert first[0] < second[0]
    assert first[1] > second[1] > third[1]


def test_levels_are_the_ticks():
    assert {"64", "128"} <= set(svg_texts(panel(line("a", [20, 40]))))


def test_a_missing_score_is_a_gap():
    assert len(points(panel(line("a", [20, None])), "a")) == 1


def test_lines_with_bars_stand_apart_and_those_without_do_not():
    apart = panel(line("a", [20, 40], [1, 1]), line("b", [20, 40], [1, 1]))
    together = panel(line("a", [20, 40]), line("b", [20, 40]))

    assert points(apart, "a")[0][0] < points(apart, "b")[0][0]
    assert points(together, "a") == points(together, "b")


def test_bars_reach_one_deviation_to_either_side():
    svg = panel(line("a", [50, 50], [10, None]))
    ends = [
        [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
        for path in ET.fromstring(svg).iter("path")
        if MARKER in path.get("style", "")
        and re.fullmatch(r"M \S+ \S+\s+L \S+ \S+", path.get("d"))
    ]
    (bar,) = [(y0, y1) for x0, y0, x1, y1 in ends if x0 == x1]
    height = 260 - 26 - 44

    assert abs(bar[0] - bar[1]) == pytest.approx(height * 20 / 100, abs=0.1)


def test_the_thesis_has_a_panel_for_each_backbone_and_for_each_dimension(thesis_grid):
    by_dimension = dimension_figure(thesis_grid, looks(thesis_grid), word="Recall@1, %")
    by_backbone = backbone_figure(thesis_grid, looks(thesis_grid), word="Recall@1, %")

    assert len(by_dimension.plots) == 3
    assert len(by_backbone.plots) == 4
    assert len(by_dimension.legend) == 10
    assert "n = 120 scores" in by_dimension.caption
    assert "CUB200-2011, GoogLeNet" in by_dimension.plots[1]
    assert "CUB200-2011, 1024 dimensions" in by_backbone.plots[3]


def test_the_thesis_figure_has_a_mark_for_every_score(thesis_grid):
    for plot in dimension_figure(thesis_grid, looks(thesis_grid), word="Recall@1, %").plots:
        marks = [
            use
            for use in ET.fromstring(plot).iter("use")
            if "fill: var(--series-" in use.get("style", "")
        ]
        assert len(marks) == 10 * 4


def test_the_tables_hold_the_numbers_of_the_thesis(thesis_grid):
    published = {
        (row["backbone"], row["embedding_dim"], row["loss"]): row["recall"]
        for row in pl.read_csv(RECALLS).filter(pl.col("k") == 1).to_dicts()
    }
    by_dimension = dimension_figure(thesis_grid, looks(thesis_grid), word="Recall@1, %").table
    by_backbone = backbone_figure(thesis_grid, looks(thesis_grid), word="Recall@1, %").table

    for _, backbone, loss, *scores, gain in by_dimension.rows:
        expected = [published[backbone.text, dim, loss.text] for dim in (64, 128, 512, 1024)]
        assert [cell.order for cell in scores] == expected
        assert gain.order == pytest.approx(expected[-1] - expected[0])
    for _, dim, loss, *scores, spread in by_backbone.rows:
        names = ("BNInception", "GoogLeNet", "ResNet50")
        expected = [published[name, int(dim.text), loss.text] for name in names]
        assert [cell.order for cell in scores] == expected
        assert spread.order == pytest.approx(max(expected) - min(expected))


def grid(*rows):
    full = [
        {"place": "x", "loss": "a", "std": None, "num_runs": 1, "is_baseline": False, **row}
        for row in rows
    ]
    return ScoreGrid(rows=pl.DataFrame(full), run_noun="seed")


def test_one_dimension_and_one_backbone_have_no_figure():
    single = grid({"backbone": "net", "dim": 64.0, "score": 50.0})

    assert dimension_figure(single, LOOKS, word="R") is None
    assert backbone_figure(single, LOOKS, word="R") is None


def test_two_dimensions_of_different_backbones_cannot_be_compared():
    crossed = grid(
        {"backbone": "net", "dim": 64.0, "score": 50.0},
        {"backbone": "other", "dim": 128.0, "score": 50.0},
    )

    assert dimension_figure(crossed, LOOKS, word="R") is None
    assert backbone_figure(crossed, LOOKS, word="R") is None


def test_the_untrained_network_and_cells_without_a_score_are_not_drawn():
    base = {"backbone": "net", "score": 50.0}
    found = dimension_figure(
        grid(
            {**base, "dim": 64.0},
            {**base, "dim": 128.0},
            {**base, "dim": 64.0, "loss": "b"},
            {**base, "dim": 128.0, "loss": "b", "score": None},
            {**base, "dim": 64.0, "loss": "untrained", "is_baseline": True, "score": 1.0},
        ),
        LOOKS,
        word="R",
    )
    rows = {row[2].text: [cell.text for cell in row[3:]] for row in found.table.rows}

    assert [series.name for series in found.legend] == ["a", "b"]
    assert rows == {"a": ["50.00", "50.00", "0.00"], "b": ["50.00", "–", "–"]}


def test_bars_are_explained_only_where_there_are_any():
    base = {"backbone": "net", "score": 50.0}
    bare = [{**base, "dim": 64.0}, {**base, "dim": 128.0}]
    spread = [{**row, "std": 1.0} for row in bare]

    assert "standard deviation" not in dimension_figure(grid(*bare), LOOKS, word="R").caption
    assert "one sample standard deviation over seeds" in (
        dimension_figure(grid(*spread), LOOKS, word="R").caption
    )


def test_panels_of_one_data_set_share_their_scale_and_other_data_sets_do_not():
    rows = [
        {"place": place, "backbone": backbone, "dim": dim, "score": level + dim / 64}
        for place, backbone, level in (("x", "n", 10), ("x", "m", 90), ("y", "n", 50))
        for dim in (64.0, 128.0)
    ]
    plots = dimension_figure(grid(*rows), LOOKS, word="R").plots
    ticks = [{text for text in svg_texts(plot) if text not in ("64", "128")} for plot in plots]

    assert {"20", "80"} <= ticks[0]
    assert {"20", "80"} <= ticks[1]
    assert "20" not in ticks[2]


@pytest.mark.parametrize("y_range", [(97.0, 99.0), (55.01, 55.04), (0.0, 1.0)])
def test_labels_of_a_narrow_scale_leave_room_for_its_name(y_range):
    svg = ET.fromstring(panel(line("a", [97.5, 98]), y_range=y_range))
    labels = [
        element for element in svg.iter("text") if "text-anchor: end" in element.get("style")
    ]
    (name,) = [element for element in svg.iter("text") if element.text == "Recall@1, %"]
    widest = max(len(element.text) for element in labels)
    ends = {float(element.get("x")) for element in labels}

    # Digits are 7 pixels wide, and the name, turned on its side, stands on a line 12 high.
    assert float(name.get("x")) <= min(ends) - 7 * widest
    assert float(name.get("x")) >= 12

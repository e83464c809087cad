"""Each figure of hyperparameters shows what it was given."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from analysis.figures.estimate import Estimate
from analysis.figures.hyperparameter_axis import axis_ticks
from analysis.figures.importance_bars import ImportanceBar, draw_importances
from analysis.figures.parallel_configs import draw_parallel
from analysis.figures.response_map import draw_response_map
from analysis.figures.response_panels import draw_response
from analysis.figures.series import series_of
from analysis.figures.tunability_curves import draw_tunability
from analysis.hyperparameters.pooled_configs import pooled_configs
from analysis.hyperparameters.response_curves import response_curve, response_grid
from analysis.hyperparameters.searched_ranges import SearchedRange
from tests.analysis.page_text import svg_texts
from tests.analysis.planted_searches import only_a, planted_search

LOOKS = series_of(["one", "two"])
RATE = SearchedRange(name="rate", low=1e-4, high=1e-1, log=True)
POOLED = pooled_configs([planted_search(np.random.default_rng(0), only_a, num=80)])["loss"]


def test_ticks_are_values_on_the_scale_of_the_search():
    places, labels = axis_ticks(RATE)
    assert labels == ["0.0001", "0.001", "0.01", "0.1"]
    assert places == pytest.approx([0, 1 / 3, 2 / 3, 1])
    kind = SearchedRange(name="kind", low=0, high=1, values=("hard", "semi_hard_all"))
    assert axis_ticks(kind) == ([0, 1], ["hard", "semi_har…"])
    assert axis_ticks(RATE, is_relative=True)[1] == ["0 %", "50 %", "100 %"]


def bar(name, value, *, above):
    estimate = Estimate(value=value, low=value / 2, high=value * 1.5)
    return ImportanceBar(hyperparameter=name, estimate=estimate, noise=0.2, is_above_noise=above)


def test_bars_above_noise_are_filled_and_the_others_hollow():
    svg = draw_importances(
        [bar("margin", 0.4, above=True), bar("rate", 0.1, above=False)],
        reach=0.8,
        series=LOOKS["one"],
        axis="share",
        name="bars",
    )
    assert {"margin", "rate", "one", "share"} <= set(svg_texts(svg))
    bars = re.findall(r'style="fill: ([^;"]+)[^"]*stroke: var\(--series-0\)', svg)
    assert bars == ["var(--series-0)", "none"]
    assert svg.count("stroke-dasharray") == 2


def test_a_panel_has_one_median_a_bin_and_its_points():
    found = response_curve(POOLED, "a")
    points = [(0.5, 0.0), (0.6, 5.0), (0.7, -5000.0)]
    svg = draw_response(
        found,
        points=points,
        gain_range=(-300.0, 300.0),
        is_relative=False,
        series=LOOKS["one"],
        name="panel",
    )
    (medians,) = re.findall(r'd="([^"]+)"[^>]*stroke: var\(--series-0\); stroke-width: 2.4', svg)
    assert medians.count("M") == len(found.bins)
    assert svg.count("<use") == 2  # the third lies below the panel
    assert "a" in svg_texts(svg)


def test_a_map_leaves_blank_what_no_config_tried():
    cells = response_grid(POOLED, "a", "b")
    cells.medians_YX[0, :] = np.nan
    svg = draw_response_map(
        cells, points=[(0.5, 0.5)], are_relative=(False, False), title="one", name="map"
    )
    boxes = [
        [float(number) for number in re.findall(r"-?[\d.]+", box)]
        for path in re.findall(r'<path d="([^"]+)"[^>]*style="fill: #', svg)
        for box in path.split("z")
        if box.strip()
    ]
    in_map = [box for box in boxes if box[0] < 290]
    rows = cells.medians_YX.shape[0]
    height = 280 - 24 - 46
    lowest = max(max(box[1::2]) for box in in_map)
    assert lowest == pytest.approx(24 + height * (rows - 1) / rows, abs=0.1)
    area = sum((max(b[::2]) - min(b[::2])) * (max(b[1::2]) - min(b[1::2])) for b in in_map)
    known = np.isfinite(cells.medians_YX).mean()
    assert area == pytest.approx(known * height * (356 - 66 - 74), rel=0.01)
    assert {"a", "b", "one"} <= set(svg_texts(svg))


def test_parallel_lines_break_where_a_hyperparameter_does_not_exist():
    heights = np.array([[0.1, 0.2, 0.3], [0.4, np.nan, 0.6]])
    svg = draw_parallel(
        {name: SearchedRange(name=name, low=0, high=1) for name in "abc"},
        heights,
        np.array([True, False]),
        series=LOOKS["one"],
        name="lines",
    )
    (good,) = re.findall(r'd="([^"]+)"[^>]*stroke: var\(--series-0\)', svg)
    assert (good.count("M"), good.count("L")) == (1, 2)
    assert {"a", "b", "c", "0", "1"} <= set(svg_texts(svg))


def test_ease_has_a_curve_and_a_marker_for_each_loss():
    svg = draw_tunability(
        {"one": ([0, 1, 2], [10, 50, 90]), "two": ([0, 1, 2], [5, 20, 70])},
        series=LOOKS,
        name="ease",
    )
    assert "stroke: var(--series-0)" in svg
    assert "stroke: var(--series-1)" in svg


def test_the_same_numbers_give_the_same_bytes():
    def drawn():
        cells = response_grid(POOLED, "a", "b")
        return draw_response_map(
            cells, points=[], are_relative=(False, True), title="one", name="map"
        )

    assert drawn() == drawn()


def test_names_of_the_outermost_axes_fit_beside_them():
    names = ("proxy_learning_rate", "a", "weight_of_the_proxies")
    tried = {name: SearchedRange(name=name, low=0, high=1) for name in names}
    heights = np.full((3, 3), 0.5)
    svg = ET.fromstring(
        draw_parallel(tried, heights, np.array([True, False, True]), series=LOOKS["one"], name="p")
    )
    width = float(svg.get("width"))
    for text in svg.iter("text"):
        half = 0.33 * float(re.search(r"(?:font-size: |bold )([\d.]+)px", text.get("style"))[1])
        reach = half * len(text.text)
        assert reach <= float(text.get("x")) <= width - reach

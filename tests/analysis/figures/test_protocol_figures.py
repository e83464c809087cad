"""The figures of the section on protocols show what they were given."""

import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import polars as pl
import pytest

from analysis.figures.config_scatter import ConfigPoint, draw_config_scatter
from analysis.figures.estimate import Estimate
from analysis.figures.estimate_groups import EstimateGroup, EstimateLine, draw_estimate_groups
from analysis.figures.regret_cost import CostPoint, draw_regret_cost
from analysis.figures.series import series_of
from analysis.report.protocols import thin_configs
from tests.analysis.page_text import svg_texts

LOOKS = series_of(["a", "b", "c"])


def marks(svg, name):
    """Where the markers of a series stand, from left to right."""
    colour = f"fill: {LOOKS[name].css_colour}"
    uses = [
        use
        for parent in ET.fromstring(svg).iter()  # many marks have their style from a group
        for use in parent.findall("use")
        if colour in use.get("style", parent.get("style", ""))
    ]
    return sorted((float(use.get("x")), float(use.get("y"))) for use in uses)


def test_each_line_of_a_group_has_its_name_and_place():
    lines = (
        EstimateLine(name="tuned", estimate=Estimate(value=2.0, low=1.0, high=3.0)),
        EstimateLine(name="missing", estimate=None),
        EstimateLine(name="refit", estimate=Estimate(value=4.0)),
    )
    groups = [EstimateGroup(name="first (leaks)", series=LOOKS["a"], lines=lines)]
    svg = draw_estimate_groups(groups, axis="points", name="g", title="t", description="d")
    assert {"first (leaks)", "tuned", "missing", "refit", "points"} <= set(svg_texts(svg))
    (tuned_x, tuned_y), (refit_x, refit_y) = marks(svg, "a")
    assert tuned_x < refit_x
    assert tuned_y < refit_y


def point(name, cost, regret, on_front, low=None, high=None):
    return CostPoint(
        label=name,
        series=LOOKS[name],
        cost=cost,
        regret=regret,
        low=low,
        high=high,
        on_front=on_front,
    )


def test_the_front_joins_its_protocols_and_hollow_ones_are_no_offer():
    points = [
        point("a", 1, 2, on_front=True, low=1, high=3),
        point("b", 3, 0.5, on_front=True),
        point("c", 2, 0.1, on_front=None),
    ]
    svg = draw_regret_cost(points, axis="minutes", name="f")
    assert {"a", "b", "c", "minutes"} <= set(svg_texts(svg))
    (a_x, a_y), (b_x, b_y) = marks(svg, "a") + marks(svg, "b")
    assert a_x < b_x
    assert a_y < b_y  # a larger regret stands higher
    assert marks(svg, "c") == []  # not filled
    dashed = [
        path
        for path in ET.fromstring(svg).iter("path")
        if "stroke-dasharray" in path.get("style", "") and "currentColor" in path.get("style")
    ]
    assert len(dashed) == 1


def test_costs_far_apart_have_a_logarithmic_axis():
    near = draw_regret_cost([point("a", 1, 0, True), point("b", 2, 0, True)], axis="x", name="f")
    far = draw_regret_cost([point("a", 1, 0, True), point("b", 900, 0, True)], axis="x", name="f")
    powers = [text for text in svg_texts(far) if text and "10" in text]
    assert powers
    assert len(svg_texts(near)) != len(svg_texts(far))


@pytest.mark.parametrize("number", [1, 30])
def test_every_config_is_a_mark_and_the_pick_has_a_ring(number):
    points = [
        ConfigPoint(validation=50 + n, test=30 + n, is_picked=n == 0, is_oracle=n == number - 1)
        for n in range(number)
    ]
    svg = draw_config_scatter(
        points, title="p (leaks)", series=LOOKS["b"], test_range=(0, 99), metric="R@1", name="s"
    )
    assert "p (leaks)" in svg_texts(svg)
    assert len(marks(svg, "b")) == number
    styles = [use.get("style", "") for use in ET.fromstring(svg).iter("use")]
    rings = [style for style in styles if style.startswith("fill-opacity: 0;")]
    assert len(rings) == 2


def test_too_many_configs_are_thinned_and_marked_ones_stay():
    frame = pl.DataFrame(
        {
            "config": [f"c{n:04d}" for n in range(1_000)],
            "val": [n / 1_000 for n in range(1_000)],
            "test": [0.5] * 1_000,
            "is_picked": [n == 17 for n in range(1_000)],
            "is_best": [n == 333 for n in range(1_000)],
        }
    )
    kept = thin_configs(frame, 100)
    assert len(kept) == 100
    assert kept["is_picked"].sum() == kept["is_best"].sum() == 1
    assert (kept["val"].min(), kept["val"].max()) == (0, 0.999)
    assert kept["config"].n_unique() == 100
    assert thin_configs(frame, 1_000).equals(frame)


def test_costs_on_a_logarithmic_axis_are_numbers_to_read():
    points = [point("a", 0.6, 0, True), point("b", 30, 1, False)]
    svg = draw_regret_cost(points, axis="minutes", name="f")
    ticks = set(re.findall(r">([\d.]+)</text>", svg))
    assert {"1", "2", "5", "10", "20"} <= ticks
    assert "math" not in svg


def test_labels_of_protocols_of_like_cost_and_regret_do_not_cover_each_other():
    points = [point(name, 1 + 0.01 * index, 1, True) for index, name in enumerate("abc")]
    svg = draw_regret_cost(
        [*points, replace(points[0], label="far", cost=3)], axis="minutes", name="f"
    )
    heights = [
        float(re.search(rf'y="([\d.]+)"[^>]*>{name}</text>', svg).group(1)) for name in "abc"
    ]
    gaps = [one - other for one, other in itertools.pairwise(sorted(heights, reverse=True))]
    assert min(gaps) >= 10

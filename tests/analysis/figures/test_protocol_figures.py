"""The figures of the section on protocols show what they were given."""

import xml.etree.ElementTree as ET

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.estimate_groups import EstimateGroup, EstimateLine, draw_estimate_groups
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

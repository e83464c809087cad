"""Colours and markers of competitors."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from analysis.figures import style
from analysis.figures.series import SERIES_COLOURS, series_of
from analysis.figures.style import FONT_SIZE, drawing, fitted_size


def test_a_competitor_looks_the_same_whatever_the_ranking():
    assert series_of(["b", "a", "c"]) == series_of(["c", "b", "a", "a"])


@pytest.mark.parametrize("count", [3, 10, 72])
def test_no_two_competitors_look_alike(count):
    looks = series_of([f"loss{i:02d}" for i in range(count)]).values()

    assert len({(look.colour, look.marker) for look in looks}) == count


def test_every_marker_has_an_outline_within_its_box():
    for look in series_of([f"loss{i}" for i in range(9)]).values():
        points = [tuple(map(float, pair.split(","))) for pair in look.marker_points.split()]

        assert len(points) >= 3
        assert all(0 <= coordinate <= 12 for point in points for coordinate in point)


def test_the_page_has_a_light_and_a_dark_colour_for_every_series():
    css = (Path(style.__file__).parents[1] / "page" / "templates" / "page.css").read_text()

    for number in range(len(SERIES_COLOURS)):
        assert len(re.findall(rf"--series-{number}: #", css)) == 2


def test_drawing_leaves_the_callers_matplotlib_settings_alone():
    before = dict(mpl.rcParams)

    with drawing(100, 100) as figure:
        figure.add_subplot()

    assert dict(mpl.rcParams) == before


def test_long_texts_are_set_smaller_and_short_ones_are_not_set_larger():
    assert fitted_size("short", 200) == FONT_SIZE
    assert 7 < fitted_size("x" * 30, 200) < FONT_SIZE
    assert fitted_size("x" * 500, 200) == 7
    assert fitted_size("", 200) == FONT_SIZE


@pytest.mark.parametrize(
    "text", ["cub200, 224 px, resnet50_imagenet_weights", "0.5*multi_similarity + proxy_anchor_MM"]
)
def test_a_fitted_name_in_bold_fits(text):
    size = fitted_size(text, 222)
    drawn = TextPath(
        (0, 0), text, size=size, prop=FontProperties(family="DejaVu Sans", weight="bold")
    )

    assert size > 7
    assert drawn.get_extents().width <= 222

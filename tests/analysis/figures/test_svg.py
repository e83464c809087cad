"""Matplotlib's SVG made fit to stand inside a page."""

import re
import xml.etree.ElementTree as ET

import pytest

from analysis.figures.series import SERIES_COLOURS, series_of
from analysis.figures.style import INK, PAPER, axes_at, drawing
from analysis.figures.svg import inline_svg


def plot(name="plot", title="A title", label="axis"):
    look = series_of(["a"])["a"]
    with drawing(300, 200) as figure:
        axes = axes_at(figure, left_px=40, right_px=10, top_px=10, bottom_px=30)
        axes.fill_between([0, 1], [0, 1], [1, 2], color=look.colour, alpha=0.2)
        axes.plot([0, 1], [0, 1], color=look.colour, marker="o", markerfacecolor=PAPER)
        axes.set_xlabel(label)
        return inline_svg(figure, name=name, title=title, description="What it shows")


def ids(svg):
    return re.findall(r' id="([^"]+)"', svg)


def test_equal_figures_give_equal_bytes():
    assert plot() == plot()


def test_ids_of_two_figures_do_not_collide():
    assert ids(plot("first"))
    assert not set(ids(plot("first"))) & set(ids(plot("second")))


def test_every_reference_inside_a_figure_leads_somewhere():
    svg = plot()
    references = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)

    assert references
    assert {a or b for a, b in references} <= set(ids(svg))


def test_a_figure_is_an_image_with_a_name_and_a_description():
    root = ET.fromstring(plot())

    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "plot-title plot-desc"
    assert root.findtext("title") == "A title"
    assert root.findtext("desc") == "What it shows"


def test_ink_and_paper_follow_the_theme_of_the_page():
    svg = plot()

    assert "currentColor" in svg
    assert "var(--paper)" in svg
    assert "var(--series-0)" in svg
    assert INK not in svg
    assert PAPER not in svg


def test_nothing_of_a_figure_reaches_outside_it():
    svg = plot()

    assert "<style" not in svg
    assert "<metadata" not in svg
    assert "http" not in svg
    assert "font-family" not in svg


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x>', "$\\frac{", "&"]
)
def test_hostile_text_stays_text(hostile):
    root = ET.fromstring(plot(title=hostile, label=hostile))

    assert root.findtext("title") == hostile
    assert hostile in [text.text for text in root.iter("text")]
    assert not list(root.iter("script"))
    assert not list(root.iter("img"))


def test_text_is_text_and_not_outlines():
    assert ">axis</text>" in plot()


def test_many_marks_of_one_look_say_it_once_and_stay_where_they_are():
    with drawing(200, 100) as figure:
        axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
        axes.plot(range(50), [n % 7 for n in range(50)], "o", color=SERIES_COLOURS[0])
        svg = inline_svg(figure, name="many", title="t", description="d")
    (group,) = [g for g in ET.fromstring(svg).iter("g") if len(g.findall("use")) == 50]

    assert "fill: var(--series-0)" in group.get("style")
    assert all("style" not in use.attrib for use in group)
    assert len({float(use.get("x")) for use in group}) == 50


def test_what_is_half_opaque_is_not_grouped():
    with drawing(200, 100) as figure:
        axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
        axes.plot(range(50), range(50), "o", color=SERIES_COLOURS[0], alpha=0.5)
        svg = inline_svg(figure, name="many", title="t", description="d")
    found = ET.fromstring(svg)

    grouped = [g for g in found.iter("g") if re.search(r"(^|; )opacity", g.get("style", ""))]
    assert grouped == []

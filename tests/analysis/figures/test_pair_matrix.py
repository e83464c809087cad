import re
import xml.etree.ElementTree as ET

import numpy as np

from analysis.figures.pair_matrix import draw_pair_matrix


def drawn(gaps, apart, names="abc"):
    svg = draw_pair_matrix(list(names), np.array(gaps, float), np.array(apart, bool), name="m")
    return ET.fromstring(svg)


GAPS = [[0, 1.04, 4], [-1.04, 0, 2.96], [-4, -2.96, 0]]
APART = [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


def marks(svg, style):
    """Corners of cells of each mark whose style holds the text."""
    paths = [p.get("d") for p in svg.iter("path") if style in (p.get("style") or "")]
    return [len(re.findall("M", d)) for d in paths]


def test_every_gap_is_written_into_its_cell_and_the_diagonal_is_empty():
    texts = [element.text for element in drawn(GAPS, APART).iter("text")]
    assert sorted(t for t in texts if t not in list("abc")) == sorted(
        ["1.0", "4.0", "−1.0", "3.0", "−4.0", "−3.0"]
    )


def test_the_pairs_apart_are_framed_in_one_mark():
    assert sum(marks(drawn(GAPS, APART), "fill: none; stroke: currentColor")) == 2
    assert sum(marks(drawn(GAPS, np.zeros((3, 3))), "fill: none; stroke: currentColor")) == 0


def test_ahead_is_brighter_than_behind():
    fills = [
        re.search("fill: (#[0-9a-f]{6})", path.get("style"))[1]
        for path in drawn([[0, 1], [-1, 0]], np.zeros((2, 2)), "ab").iter("path")
        if "fill: #" in (path.get("style") or "")
    ]
    brightness = [int(fill[1:3], 16) + int(fill[3:5], 16) for fill in fills]
    assert len(fills) == 2
    assert max(brightness) > 350
    assert min(brightness) < 60


def test_many_competitors_have_no_numbers_and_few_marks():
    gaps = np.subtract.outer(np.arange(30), np.arange(30))[::-1]
    svg = drawn(gaps, gaps != 0, names=[f"n{i}" for i in range(30)])
    assert not [e for e in svg.iter("text") if not e.text.startswith("n")]
    assert len(list(svg.iter("path"))) < 80


def test_equal_competitors_are_drawn_without_gaps():
    texts = [
        element.text for element in drawn(np.zeros((2, 2)), np.zeros((2, 2)), "ab").iter("text")
    ]
    assert texts.count("0.0") == 2

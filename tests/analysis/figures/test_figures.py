"""Each figure shows what it was given."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from analysis.figures.critical_difference import Cliques, draw_critical_difference
from analysis.figures.estimate import Estimate
from analysis.figures.estimate_groups import EstimateGroup, EstimateLine, draw_estimate_groups
from analysis.figures.interval_bars import Bar, BarGroup, draw_interval_bars
from analysis.figures.rank_intervals import RankRow, draw_rank_intervals
from analysis.figures.series import series_of
from analysis.figures.tuning_gains import TuningRow, draw_gains, draw_tuning
from tests.analysis.page_text import svg_texts

LOOKS = series_of(["a", "b", "c", "d"])


def diagram(ranks, cliques, critical_difference=1.0):
    return draw_critical_difference(
        [(LOOKS[name], rank) for name, rank in ranks.items()],
        critical_difference=critical_difference,
        cliques=[Cliques(test="T", groups=cliques)],
        name="cd",
    )


def group_lines(svg):
    """Solid and dotted lines of the groups: (start, end, is_dotted), in plot coordinates."""
    found = []
    for path in ET.fromstring(svg).iter("path"):
        style = path.get("style", "")
        is_dotted = "stroke-dasharray" in style
        if "stroke: currentColor" in style and ("stroke-width: 3" in style or is_dotted):
            x0, _, x1, _ = (float(x) for x in re.findall(r"-?[\d.]+", path.get("d")))
            found.append((x0, x1, is_dotted))
    return found


def test_the_diagram_puts_the_best_rank_at_the_left():
    svg = diagram({"a": 1.2, "b": 2.8}, [])
    axis = {
        text: float(element.get("x"))
        for element in ET.fromstring(svg).iter("text")
        for text in [element.text]
    }

    assert axis["1"] < axis["2"]
    assert "a 1.20" in svg_texts(svg)
    assert "2.80 b" in svg_texts(svg)


def test_a_group_of_neighbours_is_one_unbroken_line():
    found = group_lines(diagram({"a": 1, "b": 2, "c": 3, "d": 4}, [("b", "c", "d")]))

    assert [is_dotted for _, _, is_dotted in found] == [False, False]


def test_a_group_is_not_filled_in_over_a_competitor_that_does_not_belong():
    found = group_lines(diagram({"a": 1, "b": 2, "c": 3, "d": 4}, [("a", "c", "d")]))

    assert [is_dotted for _, _, is_dotted in sorted(found)] == [True, False]


def test_a_test_by_which_all_pairs_differ_says_so():
    assert "T: all differ" in svg_texts(diagram({"a": 1, "b": 2, "c": 3}, []))


def test_a_critical_difference_wider_than_the_axis_says_so():
    svg = diagram({"a": 1.4, "b": 1.6, "c": 3}, [], critical_difference=7.8)

    (said,) = (e for e in ET.fromstring(svg).iter("text") if e.text.startswith("CD"))
    assert said.text == "CD = 7.80, wider than the axis"
    width = float(ET.fromstring(svg).get("width"))
    assert 0 < float(said.get("x")) < width - 0.66 * 12 * len(said.text)
    assert float(said.get("y")) > 12


def test_the_description_of_the_diagram_names_ranks_and_groups():
    description = ET.fromstring(diagram({"a": 1, "b": 2, "c": 3}, [("b", "c")])).findtext("desc")

    assert "a 1.00, b 2.00, c 3.00" in description
    assert "Not significantly different by T: b and c." in description


def test_rank_intervals_list_competitors_in_the_order_given():
    svg = draw_rank_intervals(
        [
            RankRow(
                series=LOOKS["b"],
                rank=Estimate(value=1.5, low=1, high=2),
                p_first=0.8,
                p_top_three=1.0,
            ),
            RankRow(series=LOOKS["a"], rank=Estimate(value=1.5), p_first=0.2, p_top_three=0.9999),
        ],
        name="ranks",
    )
    heights = {
        element.text: float(element.get("y")) for element in ET.fromstring(svg).iter("text")
    }

    assert heights["b"] < heights["a"]
    assert ("P(first)" in heights, "P(top 3)" in heights) == (True, True)
    assert heights["80\N{NO-BREAK SPACE}%"] == pytest.approx(heights["b"], abs=2)
    assert heights["20\N{NO-BREAK SPACE}%"] == pytest.approx(heights["a"], abs=2)
    # Not quite always.
    assert ">\N{NO-BREAK SPACE}99\N{NO-BREAK SPACE}%" in heights


def row(name, gain):
    estimate = Estimate(value=50, low=40, high=60)
    return TuningRow(
        name=name,
        series=LOOKS[name],
        levels=(estimate,) * 4,
        gain=gain,
    )


UNTRAINED = TuningRow(
    name="untrained",
    series=None,
    levels=(None, None, Estimate(value=20), None),
    gain=None,
)


def test_tuning_shows_each_loss_and_the_untrained_network():
    svg = draw_tuning([row("a", None), UNTRAINED], metric="Recall@1", name="tuning")

    assert {"a", "untrained", "validation", "test", "Recall@1, %"} <= set(svg_texts(svg))


def test_tuning_ends_at_0_and_100_percent_whatever_the_intervals():
    wide = row("a", None)
    wide = replace(wide, levels=(*wide.levels[:3], Estimate(value=50, low=-300, high=400)))
    numbers = [
        t for t in svg_texts(draw_tuning([wide], metric="R", name="tuning")) if t[-1:] == "0"
    ]

    assert {"0", "100"} <= set(numbers)
    assert max(map(len, numbers)) == 3
    assert all(0 <= int(text) <= 100 for text in numbers)


def test_gains_leave_the_untrained_network_out():
    svg = draw_gains([row("a", Estimate(value=1, low=-1, high=3)), UNTRAINED], name="gains")

    assert "a" in svg_texts(svg)
    assert "untrained" not in svg_texts(svg)


LONG = "a_loss_whose_name_says_all_that_there_is_to_say_about_what_it_does"
WORDS = {"axis": "points", "name": "f", "title": "t", "description": "d"}


@pytest.mark.parametrize(
    "drawn",
    [
        lambda looks, value: draw_gains([replace(row("a", value), name=LONG)], name="f"),
        lambda looks, value: draw_estimate_groups(
            [
                EstimateGroup(
                    name="g", series=looks, lines=(EstimateLine(name=LONG, estimate=value),)
                )
            ],
            **WORDS,
        ),
        lambda looks, value: draw_interval_bars(
            [BarGroup(name="", bars=(Bar(name=LONG, estimate=value),))], **WORDS
        ),
    ],
)
def test_long_names_leave_room_for_what_is_drawn(drawn):
    svg = drawn(LOOKS["a"], Estimate(value=1, low=-1, high=3))
    assert LONG in svg_texts(svg)
    width = float(ET.fromstring(svg).get("viewBox").split()[2])
    assert width >= 7 * len(LONG) + 200

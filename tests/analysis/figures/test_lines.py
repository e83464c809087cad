"""Lines and points as the values that scripts draw."""

import json
import math

import pytest

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot, thinned
from podium.analysis.figures.scatter import Point, scatter_plot

_EPOCH = Axis(label="Epoch", digits=0)
_SCORE = Axis(label="Recall@1, %")
_WORDS = {"name": "plot", "title": "Title"}


def lines_of(*lines, **options):
    return lines_plot(lines, (_EPOCH, _SCORE), **_WORDS, **options).values


def test_lines_over_the_same_values_share_them():
    values = lines_of(
        Line(name="a", xs=(1, 2), ys=(50.0, 60.0)),
        Line(name="b", xs=(1, 2), ys=(40.0, 70.0)),
        Line(name="c", xs=(1, 5), ys=(30.0, 31.0)),
    )

    assert values["xs"] == [[1.0, 2.0], [1.0, 5.0]]
    assert [(line["name"], line["xs"]) for line in values["lines"]] == [
        ("a", 0),
        ("b", 0),
        ("c", 1),
    ]


def test_unknown_values_are_gaps_and_no_nan():
    values = lines_of(Line(name="a", xs=(1, 2, 3), ys=(50.0, None, math.nan)))

    assert values["lines"][0]["y"] == [50.0, None, None]
    json.dumps(values, allow_nan=False)


def test_a_band_has_an_end_at_each_value_where_it_is_known():
    line = Line(name="a", xs=(1, 2), ys=(50.0, 60.0), lows=(49.0, None), highs=(51.0, None))
    values = lines_of(line, band="range of 3 seeds")

    assert values["band"] == "range of 3 seeds"
    assert (values["lines"][0]["low"], values["lines"][0]["high"]) == ([49.0, None], [51.0, None])


def test_every_dot_comes_with_its_state():
    dots = ((0, 50.0, "complete"), (1, 20.0, "pruned"), (2, None, "failed"))
    values = lines_of(Line(name="a", xs=(0,), ys=(50.0,), dots=dots), style="steps")

    assert values["lines"][0]["dots"] == {
        "x": [0.0, 1.0, 2.0],
        "y": [50.0, 20.0, None],
        "state": "cpf",
    }


def test_costs_far_apart_are_logarithmic_and_near_ones_are_not():
    assert Axis.of_costs("minutes", [1.0, 900.0]).scale == "log"
    assert Axis.of_costs("minutes", [1.0, 2.0]).scale == "linear"


def test_categories_are_ticks_in_their_order():
    axis = Axis.of_categories("K", ("1", "10")).as_values()

    assert axis["ticks"] == [[0.0, "1"], [1.0, "10"]]
    assert axis["is_ordinal"]


@pytest.mark.parametrize(("count", "most"), [(1, 2), (5, 5), (6, 5), (1000, 40)])
def test_thinning_keeps_both_ends_and_at_most_so_many(count, most):
    kept = thinned(count, most)

    assert len(kept) == min(count, most)
    assert (kept[0], kept[-1]) == (0, count - 1)
    assert sorted(set(kept)) == kept
    assert thinned(11, 3) == [0, 5, 10]
    assert thinned(11, 1) == [5]


def test_points_are_columns_without_those_that_no_point_has():
    values = scatter_plot(
        [
            Point(name="b", x=1.0, y=2.0, is_picked=True),
            Point(name="a", x=3.0, y=4.0),
            Point(name="b", x=5.0, y=6.0),
        ],
        (_EPOCH, _SCORE),
        **_WORDS,
    ).values

    assert values["names"] == ["b", "a"]
    assert values["points"] == {
        "name": [0, 1, 0],
        "x": [1.0, 3.0, 5.0],
        "y": [2.0, 4.0, 6.0],
        "picked": [True, False, False],
    }

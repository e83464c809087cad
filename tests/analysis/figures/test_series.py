"""Looks of competitors: colours and symbols."""

import re
from pathlib import Path

import pytest

from podium.analysis.figures import series
from podium.analysis.figures.series import NUM_COLOURS, every_look, series_of


def names(count):
    return [f"loss{i:02d}" for i in range(count)]


def test_a_competitor_looks_the_same_whatever_the_ranking():
    assert series_of(["b", "a", "c"]) == series_of(["c", "b", "a", "a"])


@pytest.mark.parametrize("count", [3, 8])
def test_no_two_of_a_few_competitors_look_alike(count):
    looks = series_of(names(count)).values()
    assert len({(look.css_colour, look.symbol) for look in looks}) == count


def test_of_many_competitors_the_first_eight_of_the_ranking_have_colours():
    ranked = names(46)[::-1]
    looks = series_of(names(46), ranked=ranked)
    coloured = {name for name, look in looks.items() if look.position is not None}
    assert coloured == set(ranked[:NUM_COLOURS])
    assert looks["loss00"].css_colour == "var(--series-other)"


def test_every_symbol_has_an_outline_within_its_box():
    for look in every_look():
        numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", look.outline)]
        assert len(numbers) >= 4
        assert all(abs(number) <= 14.2 for number in numbers)  # steps are up to two radii


def test_the_page_has_a_light_and_a_dark_colour_for_every_series():
    css = (Path(series.__file__).parents[1] / "page" / "templates" / "page.css").read_text()
    for position in (*range(NUM_COLOURS), "other"):
        assert len(re.findall(rf"--series-{position}: #", css)) == 2

"""Where the best configs lie."""

from dataclasses import replace

import numpy as np
import pytest

from podium.analysis.hyperparameters.best_regions import best_regions
from podium.analysis.hyperparameters.searched_ranges import SearchedRange
from tests.analysis.planted_searches import nothing, only_a, planted_search


def regions_of(*searches):
    return best_regions(searches)["loss"]


def peak(positions):
    return -20 * np.abs(positions["a"] - 0.7)


def test_the_best_region_holds_the_planted_optimum():
    generator = np.random.default_rng(0)
    searches = [
        planted_search(generator, peak, num=50, block=str(block), noise=0.5) for block in range(6)
    ]
    region = regions_of(*searches)[0]
    assert region.hyperparameter == "a"
    assert region.best.low <= 0.7 <= region.best.high
    assert region.best.high - region.best.low < 0.3
    assert region.best.median == pytest.approx(0.7, abs=0.05)
    assert region.num_best == 30
    assert not region.warns_high


def test_winners_at_the_end_of_a_range_are_warned_of():
    generator = np.random.default_rng(0)
    searches = [
        planted_search(
            generator, lambda positions: 50 * positions["a"], num=600, block=str(block), noise=0.1
        )
        for block in range(4)
    ]
    found = regions_of(*searches)
    assert (found[0].num_at_high, found[0].num_winners) == (4, 4)
    assert found[0].warns_high
    assert not found[0].warns_low
    assert not found[1].warns_low
    assert not found[1].warns_high


def test_a_config_that_wins_several_searches_of_a_block_is_one_winner():
    search = planted_search(np.random.default_rng(0), only_a)
    found = regions_of(search, replace(search, repeat=1), replace(search, block="other"))
    assert [region.num_winners for region in found] == [2] * len(found)


def test_one_winner_on_one_of_two_steps_is_no_warning():
    ranges = {"n": SearchedRange(low=0, high=1, step=1, is_whole=True)}
    search = planted_search(np.random.default_rng(0), nothing, ranges=ranges)
    search = replace(search, positions={"n": search.positions["n"].round()})
    region = regions_of(search)[0]
    assert region.num_at_low + region.num_at_high == 1
    assert not region.warns_low
    assert not region.warns_high


def test_ranges_that_differ_between_blocks_are_given_as_positions():
    generator = np.random.default_rng(0)
    one = planted_search(generator, peak, block="x", ranges={"a": SearchedRange(low=0, high=1)})
    two = planted_search(generator, peak, block="y", ranges={"a": SearchedRange(low=0, high=10)})
    region = regions_of(one, two)[0]
    assert region.is_relative
    assert 0 <= region.best.low <= region.best.high <= 1


def test_a_choice_has_a_favourite():
    ranges = {"kind": SearchedRange(low=0, high=1, values=("hard", "soft"))}
    search = planted_search(
        np.random.default_rng(0), lambda positions: 9 * positions["kind"], ranges=ranges
    )
    region = regions_of(search)[0]
    favourite, share, overall_share = region.best
    assert (favourite, share) == ("soft", 1)
    assert overall_share == pytest.approx(search.positions["kind"].mean())


def test_searches_of_hardly_any_config_are_left_out():
    search = planted_search(np.random.default_rng(0), nothing, num=4)
    assert best_regions([search]) == {}

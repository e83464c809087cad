"""Figures of hyperparameters have the values of the configs that they show."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.figures.configs import config_values, shown_configs
from analysis.figures.parallel import parallel_plot
from analysis.figures.response_map import response_map_plot
from analysis.figures.searched_axis import along, axis_values
from analysis.figures.slices import slice_plot
from analysis.hyperparameters.best_regions import best_regions
from analysis.hyperparameters.pooled_configs import pooled_configs
from analysis.hyperparameters.response_curves import response_curves, response_grid
from analysis.hyperparameters.search_configs import PublishedDefault
from analysis.hyperparameters.searched_ranges import SearchedRange
from tests.analysis.planted_searches import only_a, planted_search

RATE = SearchedRange(name="rate", low=1e-4, high=1e-1, log=True)
KIND = SearchedRange(name="kind", low=0, high=1, values=("hard", "semi_hard"))
EPOCHS = SearchedRange(name="epochs", low=0, high=1000, is_whole=True, unit="epochs")
DEFAULT = PublishedDefault(positions={"a": 1.5, "b": float("nan"), "c": 0.25}, score=2.0)


def pooled_of(*searches):
    return pooled_configs(searches)["loss"]


@pytest.fixture(scope="module")
def pooled():
    generator = np.random.default_rng(0)
    one, two = (planted_search(generator, only_a, num=80, block=block) for block in ("x", "y"))
    return pooled_of(replace(one, default=DEFAULT), two)


def slice_of(pooled, name, shown=None, gain_range=(-1e6, 1e6)):
    return slice_plot(
        response_curves(pooled, [name])[0],
        pooled,
        np.arange(pooled.num_configs) if shown is None else shown,
        gain_range=gain_range,
        region=next(it for it in best_regions(pooled) if it.hyperparameter == name),
        name="panel",
    ).values


def test_positions_become_values_on_the_scale_of_the_search():
    def values(searched, *positions, is_relative=False):
        return along(searched, np.array(positions), is_relative=is_relative)

    assert values(RATE, 0, 1 / 3, 1, np.nan) == [0.0001, 0.001, 0.1, None]
    assert values(KIND, 1, np.nan) == [1, None]
    assert values(EPOCHS, 0.987, np.nan) == [987, None]  # every digit of whole numbers
    assert values(RATE, 0.5, is_relative=True) == [0.5]


def test_an_axis_has_its_scale_and_ends_or_its_values():
    assert axis_values(RATE, is_relative=False) == {
        "name": "rate",
        "unit": "",
        "scale": "log",
        "low": 0.0001,
        "high": 0.1,
    }
    assert axis_values(KIND, is_relative=False)["values"] == ["hard", "semi_hard"]
    relative = axis_values(EPOCHS, is_relative=True)
    assert (relative["scale"], relative["low"], relative["high"]) == ("share", 0, 1)


def test_of_many_configs_the_shown_span_all_ranks_with_the_best_of_every_search(pooled):
    shown = shown_configs(pooled, 10)
    assert 10 <= len(shown) <= 12
    assert set(pooled.winners) <= set(shown)
    assert pooled.gains_N.argmin() in shown
    assert (shown_configs(pooled, 10) == shown).all()
    assert len(shown_configs(pooled, 10_000)) == pooled.num_configs


def test_configs_are_columns_with_their_block_and_whether_they_are_best(pooled):
    shown = np.array([3, int(pooled.winners[1])])
    values = config_values(pooled, ["c", "a"], shown)
    assert [axis["name"] for axis in values["axes"]] == ["c", "a"]
    for column, name in zip(values["columns"], ("c", "a"), strict=True):
        assert column == pytest.approx(pooled.positions[name][shown], rel=5e-3)
    assert values["gains"] == pytest.approx(pooled.gains_N[shown], abs=0.005)
    assert [values["blocks"][block] for block in values["block"]] == ["x", "y"]
    assert values["best"] == [1]


def test_the_published_default_is_there_even_outside_of_the_space(pooled):
    found = config_values(pooled, ["a", "b", "c"], np.array([0]))["published"]
    assert found["values"] == [1.5, None, 0.25]
    median = np.median(planted_search(np.random.default_rng(0), only_a, num=80).scores_N)
    assert found["gain"] == pytest.approx(100 * (2.0 - median), abs=0.005)
    assert found["searches"] == 1


def test_a_default_that_is_none_of_the_values_of_a_choice_has_none_there():
    search = planted_search(
        np.random.default_rng(0), lambda positions: 0.0, ranges={"kind": KIND, "rate": RATE}
    )
    default = PublishedDefault(positions={"kind": -1.0, "rate": -np.inf}, score=0.0)
    found = config_values(
        pooled_of(replace(search, default=default)), ["kind", "rate"], np.array([0])
    )
    assert found["published"]["values"] == [None, 0]


def test_no_default_was_tried_where_no_search_has_one():
    pooled = pooled_of(planted_search(np.random.default_rng(0), only_a))
    assert config_values(pooled, ["a"], np.array([0]))["published"] is None


def test_a_slice_has_every_bin_and_the_configs_within_the_panel(pooled):
    low = float(np.median(pooled.gains_N))
    values = slice_of(pooled, "a", gain_range=(low, 1e6))
    bins = response_curves(pooled, ["a"])[0].bins
    assert values["curve"]["median"] == pytest.approx([one.median for one in bins], abs=0.005)
    assert values["curve"]["left"][0] == 0
    assert values["curve"]["right"][-1] == 1
    assert sum(values["curve"]["count"]) == pooled.num_configs
    assert len(values["gains"]) == (pooled.gains_N >= low).sum()
    assert 0.5 < values["region"][0] < values["region"][1] <= 1  # a larger a is better


def test_a_slice_leaves_out_configs_without_the_hyperparameter():
    search = planted_search(np.random.default_rng(0), only_a)
    search.positions["b"][:7] = np.nan
    values = slice_of(pooled_of(search), "b")
    assert len(values["gains"]) == search.num_configs - 7
    assert None not in values["columns"][0]


def test_parallel_lines_say_where_a_hyperparameter_does_not_exist():
    search = planted_search(np.random.default_rng(0), only_a)
    search.positions["b"][2] = np.nan
    plot = parallel_plot(
        pooled_of(search), ["b", "a"], np.array([1, 2]), gain_range=(-5.0, 5.0), name="lines"
    )
    assert [value is None for value in plot.values["columns"][0]] == [False, True]
    assert None not in plot.values["columns"][1]
    assert plot.values["gain_range"] == [-5, 5]


def test_a_map_leaves_blank_what_no_config_tried(pooled):
    cells = response_grid(pooled, "a", "b")
    cells.medians_YX[0, :] = np.nan
    found = response_map_plot(cells, pooled, np.arange(pooled.num_configs), name="map").values
    drawn = found["cells"]
    known = np.isfinite(cells.medians_YX)
    assert len(drawn["median"]) == known.sum()
    assert min(drawn["y1"]) == pytest.approx(cells.y_edges[1], rel=5e-3)
    assert drawn["median"] == pytest.approx(cells.medians_YX[known], abs=0.005)
    area = sum(
        (x2 - x1) * (y2 - y1)
        for x1, x2, y1, y2 in zip(*(drawn[end] for end in ("x1", "x2", "y1", "y2")), strict=True)
    )
    assert area == pytest.approx(known.mean(), rel=0.02)

import pytest

from orchestrator.search_samplers.factorial import (
    configs,
    num_configs,
    points_within,
    trials_needed,
)
from search_spaces.parameters import Choice, Condition, Int, Real, Space
from tests.orchestrator.search_samplers.searching import (
    CONDITIONS,
    DEFAULT,
    SPACE,
    VALUES,
    task_of,
)

STEPPED = Space({"a": Real(0.0, 1.0, step=0.25), "b": Choice(("u", "v"))})
ON_GRID = {"a": 0.5, "b": "u"}
OFF_GRID = {"a": 0.3, "b": "u"}


def distinct(found):
    return {tuple(sorted(config.items())) for config in found}


def test_steps_and_lists_give_all_their_values():
    task = task_of(STEPPED, ON_GRID, trials=10)
    points = points_within(task)
    assert points == {"a": (0.0, 0.25, 0.5, 0.75, 1.0), "b": ("u", "v")}
    assert len(distinct(configs(points, task))) == 10


@pytest.mark.parametrize("trials", [4, 9, 10, 16, 30, 100])
def test_ranges_without_steps_share_the_budget_evenly(trials):
    space = Space({"x": Real(0.0, 1.0), "y": Real(1.0, 100.0, log=True)})
    points = points_within(task_of(space, {}, trials=trials))
    x, y = (len(points[name]) for name in "xy")
    assert x * y <= trials
    assert 0 <= x - y <= 1
    assert (x + 1) * (y + 1) > trials  # as fine as the budget allows


def test_logarithmic_ranges_are_even_in_the_logarithm():
    points = points_within(task_of(Space({"rate": Real(1e-4, 1e-1, log=True)}), {}, trials=4))
    assert points["rate"] == pytest.approx((1e-4, 1e-3, 1e-2, 1e-1))


def test_whole_numbers_get_no_more_points_than_there_are():
    space = Space({"n": Int(1, 3), "log": Int(1, 4, log=True)})
    points = points_within(task_of(space, {}, trials=1000))
    assert points == {"n": (1, 2, 3), "log": (1, 2, 3, 4)}


def test_the_default_takes_a_trial_unless_it_lies_on_the_grid():
    assert trials_needed(task_of(STEPPED, ON_GRID, first=[ON_GRID])) == 10
    assert trials_needed(task_of(STEPPED, OFF_GRID, first=[OFF_GRID])) == 11
    assert (
        trials_needed(task_of(STEPPED, OFF_GRID, first=[OFF_GRID, ON_GRID, {"a": 0.1, "b": "v"}]))
        == 12
    )


def test_the_coarsest_grid_has_both_ends_of_every_open_range():
    assert trials_needed(task_of(Space({name: Real(0.0, 1.0) for name in "xyz"}), {})) == 8


@pytest.mark.parametrize("trials", [30, 100, 400])
def test_what_a_config_lacks_does_not_multiply_the_grid(trials):
    task = task_of(SPACE, VALUES, CONDITIONS, trials=trials, first=[DEFAULT])
    points = points_within(task)
    found = list(configs(points, task))
    assert len(found) == len(distinct(found)) == num_configs(points, task)
    assert all(("tau" in config) == (config["centres"] > 1) for config in found)
    product = num_configs(points, task_of(SPACE, VALUES))
    assert len(found) < product


def test_a_condition_on_what_is_not_searched_leaves_a_parameter_in_or_out():
    space = Space({"x": Real(0.0, 1.0, step=0.5), "tau": Real(0.0, 1.0, step=0.5)})
    conditions = {"tau": Condition("centres", above=1)}
    for centres, expected in ((1, 3), (5, 9)):
        values = {"x": 0.5, "tau": 0.5, "centres": centres}
        task = task_of(space, values, conditions, trials=9)
        points = points_within(task)
        assert num_configs(points, task) == expected
        assert len(distinct(configs(points, task))) == expected


def test_huge_grids_are_counted_without_being_laid():
    space = Space({str(i): Real(0.0, 1.0, step=0.01) for i in range(8)})
    assert trials_needed(task_of(space, {})) == 101**8

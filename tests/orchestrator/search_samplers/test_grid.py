from dataclasses import replace

from podium.orchestrator.search_samplers.grid import GridSuggester, num_configs
from podium.orchestrator.search_samplers.unit_cube import listed_values
from podium.search_spaces.parameters import Choice, Condition, Int, Real, Space
from tests.orchestrator.search_samplers.searching import task_of

SPACE = Space({name: Real(0.0, 1.0, step=0.25) for name in ("x", "y")})
CENTRE = {"x": 0.5, "y": 0.5}
ALL = {(x / 4, y / 4) for x in range(5) for y in range(5)}


def grid_suggester(seed=1, trials=25):
    suggester = GridSuggester(task_of(SPACE, CENTRE, trials=trials, seed=seed, first=[CENTRE]))
    suggester.set_suggestion(0, CENTRE)
    return suggester


def all_of(suggester):
    points = []
    while not suggester.is_exhausted:
        config = suggester.suggest(len(points) + 1)
        points.append((config["x"], config["y"]))
    return points


def test_every_point_but_the_default_comes_once_and_then_the_grid_is_exhausted():
    points = all_of(grid_suggester())
    assert len(points) == 24
    assert {*points, (0.5, 0.5)} == ALL


def test_the_order_is_shuffled_so_that_its_beginning_is_spread_over_the_space():
    points = all_of(grid_suggester())
    assert points != sorted(points)
    for axis in (0, 1):
        assert len({point[axis] for point in points[:8]}) >= 3
    assert all_of(grid_suggester(seed=2)) != points


def test_a_config_that_the_study_gives_is_not_suggested_again():
    suggester = grid_suggester()
    suggester.set_suggestion(1, {"x": 0.25, "y": 1.0})
    assert (0.25, 1.0) not in all_of(suggester)


def test_what_does_not_exist_multiplies_nothing_and_first_configs_count():
    space = Space({"tau": Real(0.0, 1.0, step=0.5), "centres": Choice((1, 5)), "n": Int(1, 2)})
    conditions = {"tau": Condition("centres", above=1)}
    default = {"tau": 0.2, "centres": 1, "n": 1}
    task = task_of(space, default, conditions, trials=20, first=[{"centres": 1, "n": 1}])
    suggester = GridSuggester(task)
    found = []
    while not suggester.is_exhausted:
        found.append(tuple(sorted(suggester.suggest(len(found)).items())))
    assert len(found) == len(set(found)) == num_configs(task, 99) == 2 * (3 + 1)
    assert num_configs(replace(task, first=[default]), 99) == 9
    assert num_configs(task, 5) == 5


def test_values_are_those_that_a_user_would_write():
    assert listed_values(Real(0.0, 0.3, step=0.1), 9) == (0.0, 0.1, 0.2, 0.3)
    assert listed_values(Int(1, 10**18), 3) == (1, 2, 3)
    assert listed_values(Int(2, 8, step=3), 9) == (2, 5, 8)
    assert listed_values(Choice(("a", "b")), 9) == ("a", "b")
    assert listed_values(Int(1, 3, log=True), 9) == (1, 2, 3)
    assert listed_values(Real(0.0, 1.0), 9) is None
    assert num_configs(task_of(Space({"x": Real(0.0, 1.0)}), {"x": 1}), 9) is None

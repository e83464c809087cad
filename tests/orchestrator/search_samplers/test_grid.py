from orchestrator.search_samplers.grid import GridSuggester
from search_spaces.parameters import Real, Space
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


def test_a_search_that_grew_tries_what_a_finer_grid_adds():
    space = Space({"x": Real(0.0, 1.0)})
    grown = GridSuggester(task_of(space, {"x": 0.5}, trials=9, first=[{"x": 0.5}]))
    for index, x in enumerate((0.5, 0.0, 0.25, 0.75, 1.0)):
        grown.set_suggestion(index, {"x": x})
    later = []
    while not grown.is_exhausted:
        later.append(grown.suggest(5 + len(later))["x"])
    assert sorted(later) == [0.125, 0.375, 0.625, 0.875]

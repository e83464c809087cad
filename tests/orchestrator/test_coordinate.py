import pytest

from orchestrator.coordinate import CoordinateSuggester, grid
from search_spaces.params import Choice, Condition, Int, Real, Space

SPACE = Space({"alpha": Real(1.0, 100.0, log=True), "margin": Real(0.0, 1.0, step=0.1)})
VALUES = {"alpha": 10.0, "margin": 0.5, "fixed": 3}


def searched(suggester, objective, num_suggestions):
    configs = [VALUES]
    suggester.place(0, VALUES)
    suggester.tell(0, "COMPLETE", objective(VALUES))
    for index in range(1, num_suggestions):
        configs.append(suggester.suggest(index))
        suggester.tell(index, "COMPLETE", objective(configs[-1]))
    return configs


def test_each_parameter_is_swept_alone_and_the_best_values_are_put_together():
    suggester = CoordinateSuggester(SPACE, VALUES, {}, trials=8)
    configs = searched(suggester, lambda c: -abs(c["alpha"] - 100) - 50 * abs(c["margin"] - 1), 7)
    assert [config["alpha"] for config in configs[1:3]] == [1.0, 100.0]  # 10 is the default
    assert [config["margin"] for config in configs[3:5]] == [0.0, 1.0]  # 0.5 too
    assert configs[5] == {"alpha": 100.0, "margin": 1.0, "fixed": 3}
    assert configs[6] == configs[5]


def test_a_value_that_does_not_beat_the_default_is_not_taken():
    suggester = CoordinateSuggester(SPACE, VALUES, {}, trials=8)
    configs = searched(suggester, lambda c: -abs(c["alpha"] - 10) - abs(c["margin"] - 1), 6)
    assert configs[-1] == {"alpha": 10.0, "margin": 1.0, "fixed": 3}


def test_pruned_and_failed_trials_do_not_count():
    suggester = CoordinateSuggester(SPACE, VALUES, {}, trials=8)
    suggester.place(0, VALUES)
    suggester.tell(0, "COMPLETE", 0.1)
    for index in range(1, 5):
        suggester.suggest(index)
        suggester.tell(index, "PRUNED" if index % 2 else "FAILED", None)
    assert suggester.suggest(5) == VALUES


def test_a_rebuilt_search_goes_on_as_the_old_one():
    def objective(config):
        return config["alpha"] / 100 - config["margin"]

    configs = searched(CoordinateSuggester(SPACE, VALUES, {}, trials=8), objective, 6)
    rebuilt = CoordinateSuggester(SPACE, VALUES, {}, trials=8)
    for index, config in enumerate(configs[:5]):
        rebuilt.place(index, config)
        rebuilt.tell(index, "COMPLETE", objective(config))
    assert rebuilt.suggest(5) == configs[5]


def test_the_thesis_sweep_of_multi_similarity_has_its_122_points():
    tenths, evens = Real(0.0, 1.0, step=0.1), Real(2.0, 100.0, step=2.0)
    ranges = {"margin": tenths, "alpha": evens, "beta": evens, "epsilon": tenths}
    points = [grid(tried, 1000) for tried in ranges.values()]
    assert sum(map(len, points)) == 122
    assert points[0][3] == 0.3


@pytest.mark.parametrize(
    ("tried", "num_points", "expected"),
    [
        (Real(0.0, 1.0), 3, (0.0, 0.5, 1.0)),
        (Real(1.0, 100.0, log=True), 3, (1.0, 10.0, 100.0)),
        (Real(2.0, 100.0, step=2.0), 3, (2.0, 50.0, 100.0)),
        (Real(0.0, 1.0), 1, (0.5,)),
        (Int(1, 3), 9, (1, 2, 3)),
        (Int(1, 100, log=True), 3, (1, 10, 100)),
        (Choice(("a", "b", "c")), 1, ("a", "b", "c")),
    ],
)
def test_a_grid_has_the_ends_and_what_lies_evenly_between(tried, num_points, expected):
    assert grid(tried, num_points) == expected


def test_what_does_not_exist_at_the_unsearched_values_is_not_swept():
    space = Space({"centres": Choice((1, 5)), "tau": Real(0.0, 1.0)})
    conditions = {"tau": Condition("centres", above=1)}
    suggester = CoordinateSuggester(space, {"centres": 1, "tau": 0.2}, conditions, trials=10)
    assert [suggester.suggest(index) for index in (1, 2)] == [
        {"centres": 5, "tau": 0.2},
        {"centres": 1},
    ]

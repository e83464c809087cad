import pytest

from orchestrator.search_samplers.coordinate_descent import CoordinateDescentSuggester
from orchestrator.search_samplers.suggester import Outcome
from search_spaces.parameters import Choice, Condition, Real, Space
from tests.orchestrator.search_samplers.searching import task_of

SPACE = Space({"alpha": Real(0.0, 2.0, step=1.0), "margin": Real(0.0, 1.0, step=0.5)})
VALUES = {"alpha": 0.0, "margin": 0.5, "fixed": 3}


def made(**changes):
    return CoordinateDescentSuggester(task_of(SPACE, VALUES, **changes))


def score(config):
    """The best margin at alpha 2 is 1, at the default alpha 0: only a descent finds it."""
    return config["alpha"] + (config["margin"] if config["alpha"] == 2 else -config["margin"])


def searched(suggester, objective, configs=(VALUES,)):
    """Every config of a search, one trial at a time."""
    configs = list(configs)
    for index, config in enumerate(configs):
        suggester.set_suggestion(index, config)
        suggester.tell(index, Outcome("COMPLETE", objective(config)))
    while not suggester.is_exhausted:
        configs.append(suggester.suggest(len(configs)))
        suggester.tell(len(configs) - 1, Outcome("COMPLETE", objective(configs[-1])))
    return configs


def test_each_sweep_starts_from_the_best_values_of_those_before():
    configs = searched(made(), score)
    assert [config["alpha"] for config in configs[1:3]] == [1.0, 2.0]
    assert configs[3:] == [
        {"alpha": 2.0, "margin": 0.0, "fixed": 3},
        {"alpha": 2.0, "margin": 1.0, "fixed": 3},
    ]
    assert max(configs, key=score) == configs[-1]


def test_a_value_that_does_not_score_better_is_not_kept():
    configs = searched(made(), lambda config: 0.0)
    assert configs[3:] == [{**VALUES, "margin": 0.0}, {**VALUES, "margin": 1.0}]


def test_the_next_sweep_waits_until_the_present_one_has_ended():
    suggester = made()
    suggester.set_suggestion(0, VALUES)
    assert [suggester.suggest(index)["alpha"] for index in (1, 2)] == [1.0, 2.0]
    for index, objective in ((0, 0.0), (2, 2.0), (1, 1.0)):
        assert suggester.wants_all_outcomes
        assert not suggester.is_exhausted
        suggester.tell(index, Outcome("COMPLETE", objective))
    assert not suggester.wants_all_outcomes
    assert suggester.suggest(3) == {"alpha": 2.0, "margin": 0.0, "fixed": 3}


@pytest.mark.parametrize("state", ["PRUNED", "FAILED"])
def test_trials_that_are_not_complete_are_not_kept(state):
    suggester = made()
    suggester.set_suggestion(0, VALUES)
    suggester.tell(0, Outcome("COMPLETE", 0.1))
    for index in (1, 2):
        suggester.suggest(index)
        suggester.tell(index, Outcome(state, None))
    assert suggester.suggest(3) == {**VALUES, "margin": 0.0}


def test_a_search_rebuilt_at_any_moment_continues_as_the_old_one():
    configs = searched(made(), score)
    for cut in range(1, len(configs)):
        rebuilt = made()
        for index, config in enumerate(configs[:cut]):
            rebuilt.set_suggestion(index, config)
            rebuilt.tell(index, Outcome("COMPLETE", score(config)))
        assert rebuilt.suggest(cut) == configs[cut]


def test_a_search_interrupted_between_asks_and_outcomes_suggests_nothing_twice():
    configs = searched(made(), score)
    rebuilt = made()
    for index, config in enumerate(configs[:2]):
        rebuilt.set_suggestion(index, config)  # of which no outcome was stored
    assert rebuilt.suggest(2) == configs[2]


def test_what_comes_to_exist_with_a_kept_value_is_swept():
    space = Space({"centres": Choice((1, 5)), "tau": Real(0.0, 1.0, step=0.5)})
    values, conditions = {"centres": 1, "tau": 0.5}, {"tau": Condition("centres", above=1)}
    task = task_of(space, values, conditions)
    for best, taus in ((5, [0.0, 1.0]), (1, [])):
        configs = searched(
            CoordinateDescentSuggester(task),
            lambda config, best=best: float(config["centres"] == best),
            [{"centres": 1}],
        )
        assert [config["tau"] for config in configs[2:]] == taus


def test_a_config_the_study_gives_is_part_of_its_sweep_and_not_tried_again():
    given = {**VALUES, "alpha": 2.0}
    configs = searched(made(), score, [VALUES, given])
    assert [config["alpha"] for config in configs[2:]] == [1.0, 2.0, 2.0]


def test_after_the_sweeps_it_suggests_the_best_config():
    suggester = made()
    configs = searched(suggester, score)
    assert suggester.suggest(len(configs)) == max(configs, key=score)
    assert suggester.is_exhausted

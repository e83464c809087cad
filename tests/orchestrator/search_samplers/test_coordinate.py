from podium.orchestrator.search_samplers.coordinate import CoordinateSuggester
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.search_spaces.parameters import Choice, Condition, Real, Space
from tests.orchestrator.search_samplers.searching import task_of

SPACE = Space({"alpha": Choice((1.0, 10.0, 100.0)), "margin": Real(0.0, 1.0, step=0.5)})
VALUES = {"alpha": 10.0, "margin": 0.5, "fixed": 3}


def complete_trials(suggester, objective, num_suggestions):
    configs = [VALUES]
    suggester.set_suggestion(0, VALUES)
    suggester.tell(0, Outcome("COMPLETE", objective(VALUES)))
    for index in range(1, num_suggestions):
        configs.append(suggester.suggest(index))
        suggester.tell(index, Outcome("COMPLETE", objective(configs[-1])))
    return configs


def test_each_parameter_is_swept_alone_and_the_best_values_are_put_together():
    suggester = CoordinateSuggester(task_of(SPACE, VALUES))
    configs = complete_trials(
        suggester, lambda c: -abs(c["alpha"] - 100) - 50 * abs(c["margin"] - 1), 7
    )
    assert [config["alpha"] for config in configs[1:3]] == [1.0, 100.0]  # 10 is the default
    assert [config["margin"] for config in configs[3:5]] == [0.0, 1.0]  # 0.5 too
    assert configs[5] == {"alpha": 100.0, "margin": 1.0, "fixed": 3}
    assert configs[6] == configs[5]


def test_a_value_that_does_not_beat_the_default_is_not_taken():
    suggester = CoordinateSuggester(task_of(SPACE, VALUES))
    configs = complete_trials(suggester, lambda c: -abs(c["alpha"] - 10) - abs(c["margin"] - 1), 6)
    assert configs[-1] == {"alpha": 10.0, "margin": 1.0, "fixed": 3}


def test_pruned_and_failed_trials_do_not_count():
    suggester = CoordinateSuggester(task_of(SPACE, VALUES))
    suggester.set_suggestion(0, VALUES)
    suggester.tell(0, Outcome("COMPLETE", 0.1))
    for index in range(1, 5):
        suggester.suggest(index)
        suggester.tell(index, Outcome("PRUNED" if index % 2 else "FAILED", None))
    assert suggester.suggest(5) == VALUES


def test_what_does_not_exist_at_the_unsearched_values_is_not_swept():
    space = Space({"centres": Choice((1, 5)), "tau": Real(0.0, 1.0, step=0.5)})
    conditions = {"tau": Condition("centres", above=1)}
    suggester = CoordinateSuggester(
        task_of(space, {"centres": 1, "tau": 0.2}, conditions, trials=10)
    )
    assert [suggester.suggest(index) for index in (1, 2)] == [
        {"centres": 5, "tau": 0.2},
        {"centres": 1},
    ]


def test_the_combination_waits_until_every_sweep_has_ended():
    suggester = CoordinateSuggester(task_of(SPACE, VALUES))
    suggester.set_suggestion(0, VALUES)
    for index in range(1, 5):
        assert not suggester.wants_all_outcomes
        suggester.suggest(index)
    assert suggester.wants_all_outcomes


def test_a_search_is_not_over_before_its_sweeps_have_ended():
    suggester = CoordinateSuggester(task_of(SPACE, VALUES))
    suggester.set_suggestion(0, VALUES)
    for index in range(1, 5):
        suggester.suggest(index)
    for index in range(5):
        assert not suggester.is_exhausted
        suggester.tell(index, Outcome("FAILED", None))
    assert suggester.is_exhausted


def test_a_config_the_study_gives_is_part_of_its_sweep_and_not_tried_again():
    suggester = CoordinateSuggester(task_of(SPACE, VALUES))
    suggester.set_suggestion(0, VALUES)
    suggester.tell(0, Outcome("COMPLETE", 0.5))
    suggester.set_suggestion(1, {**VALUES, "alpha": 100.0})
    suggester.tell(1, Outcome("COMPLETE", 0.9))
    configs = [suggester.suggest(index) for index in range(2, 6)]
    assert configs[:3] == [
        {**VALUES, "alpha": 1.0},
        {**VALUES, "margin": 0.0},
        {**VALUES, "margin": 1.0},
    ]
    assert configs[3] == {**VALUES, "alpha": 100.0}

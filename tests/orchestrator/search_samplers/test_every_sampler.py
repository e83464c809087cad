import random

import pytest

from podium.orchestrator.search_samplers.unit_cube import is_inside
from tests.orchestrator.search_samplers.searching import (
    CONDITIONS,
    DEFAULT,
    LISTED,
    MAKERS,
    SPACE,
    VALUES,
    Outcome,
    Workers,
    in_turn,
    mixed_outcome,
    rebuilt,
)

SEEDED = [name for name in MAKERS if not name.startswith("coordinate")]
# Gaussian processes take their time; a grid of the space has more points than other budgets.
TRIALS = {**dict.fromkeys(MAKERS, 24), "gp": 14, "grid": 1848}
SUGGESTIONS = {**TRIALS, "gp": 9, "grid": 24}
SPACES = {**dict.fromkeys(MAKERS, SPACE), "grid": LISTED, "coordinate": LISTED}


def maker(name, seed=1, values=VALUES):
    return lambda: MAKERS[name](SPACES[name], values, CONDITIONS, seed, TRIALS[name])


@pytest.mark.parametrize("name", MAKERS)
def test_a_search_of_several_workers_continues_as_if_it_had_never_been_interrupted(name):
    undisturbed = Workers(maker(name)(), 4, mixed_outcome).run(SUGGESTIONS[name])
    workers = Workers(maker(name)(), 4, mixed_outcome)
    for stop in (3, 7, 8, SUGGESTIONS[name]):
        workers.run(stop)
        workers.interrupt(maker(name))
    assert workers.configs == undisturbed


def test_what_a_running_trial_does_not_have_is_not_remembered_of_it():
    # While all complete trials have tau, Optuna would draw it together with the others, and know
    # of a running trial what it drew even where the trial does not have it.
    default = {**VALUES, "centres": 8}
    suggester = maker("tpe")()
    suggester.set_suggestion(0, default)
    configs, ended = [default], []
    for index in range(1, 24):
        config = configs[-1]
        if "tau" in config:
            ended.append(index - 1)
            suggester.tell(index - 1, Outcome("COMPLETE", -config["centres"]))
        configs.append(suggester.suggest(index))
        again = rebuilt(
            maker("tpe"),
            configs[:index],
            ended,
            lambda _, config: Outcome("COMPLETE", -config["centres"]),
        )
        assert again.suggest(index) == configs[index]
    assert 3 < len(ended) < 22


@pytest.mark.parametrize("name", MAKERS)
def test_when_an_outcome_was_reported_makes_no_difference(name):
    configs = in_turn(maker(name)(), 9, mixed_outcome)
    suggester = maker(name)()
    for index, config in enumerate(configs):
        suggester.set_suggestion(index, config)
    late = list(range(len(configs)))
    random.Random(3).shuffle(late)
    for index in late:
        result = mixed_outcome(index, configs[index])
        suggester.tell(index, result)
    in_order = rebuilt(maker(name), configs, range(len(configs)), mixed_outcome)
    assert suggester.suggest(len(configs)) == in_order.suggest(len(configs))


@pytest.mark.parametrize("name", MAKERS)
def test_every_suggestion_lies_in_the_space_and_meets_its_conditions(name):
    configs = in_turn(maker(name)(), SUGGESTIONS[name], mixed_outcome)
    assert len(configs) > 8
    for config in configs[1:]:
        assert ("tau" in config) == (config["centres"] > 1)
        assert config["fixed"] == 7
        assert config.keys() - {"tau", "fixed"} == SPACE.parameters.keys() - {"tau"}
        for key, tried in SPACES[name].parameters.items():
            assert key not in config or is_inside(tried, config[key])
        assert {key: type(config[key]) for key in DEFAULT} == {
            key: type(value) for key, value in DEFAULT.items()
        }


@pytest.mark.parametrize("name", SEEDED)
def test_one_seed_gives_one_search_and_another_seed_another(name):
    first, again, other = (in_turn(maker(name, seed)(), 7, mixed_outcome) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", MAKERS)
def test_a_default_outside_the_space_is_placed_and_not_learnt_from(name):
    outside = {**DEFAULT, "margin": 3.0}
    values = {**VALUES, "margin": 3.0}
    suggested = {}
    for objective in (0.0, 1e6):
        suggester = maker(name, values=values)()
        suggester.set_suggestion(0, outside)
        suggester.tell(0, Outcome("COMPLETE", objective))
        configs = [suggester.suggest(index) for index in range(1, 4)]
        suggested[objective] = configs
    assert suggested[0.0] == suggested[1e6]

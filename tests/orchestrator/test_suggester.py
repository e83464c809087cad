import optuna
import pytest

from orchestrator.suggester import OptunaSuggester
from search_spaces.params import Choice, Int, Real, Space

SPACE = Space(
    {
        "margin": Real(low=0.0, high=1.0),
        "rate": Real(low=1e-4, high=1e-1, log=True),
        "centres": Int(low=1, high=8),
        "pooling": Choice(values=("avg", "max")),
    }
)
DEFAULT = {"margin": 0.5, "rate": 1e-2, "centres": 2, "pooling": "avg"}


def suggester_of(
    *, sampler="tpe", trials=40, seed=1, space=SPACE, values=DEFAULT, conditions=None
):
    return OptunaSuggester(
        space,
        values=values,
        conditions=conditions or {},
        sampler=sampler,
        trials=trials,
        seed=seed,
    )


def outcome(index, config):
    """A made-up result: every third suggestion is pruned, every seventh fails."""
    value = 1 - (config["margin"] - 0.3) ** 2
    if index % 7 == 6:
        return "FAILED", None, ()
    if index % 3 == 2:
        return "PRUNED", None, ((1, value / 2),)
    return "COMPLETE", value, ((1, value / 2), (2, value))


def searched(num_trials, seed=1, sampler="tpe"):
    suggester = suggester_of(sampler=sampler, trials=40, seed=seed)
    suggester.place(0, DEFAULT)
    suggester.tell(0, *outcome(0, DEFAULT))
    configs = [DEFAULT]
    for index in range(1, num_trials):
        configs.append(suggester.suggest(index))
        suggester.tell(index, *outcome(index, configs[-1]))
    return suggester, configs


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_a_rebuilt_search_goes_on_exactly_as_the_old_one(sampler):
    _, configs = searched(40, sampler=sampler)
    for cut in (1, 7, 25):
        rebuilt = suggester_of(sampler=sampler, trials=40, seed=1)
        for index, config in enumerate(configs[:cut]):
            rebuilt.place(index, config)
            rebuilt.tell(index, *outcome(index, config))
        assert rebuilt.suggest(cut) == configs[cut]


def test_a_rebuilt_study_holds_the_same_trials():
    live, configs = searched(20)
    rebuilt = suggester_of(sampler="tpe", trials=40, seed=1)
    for index, config in enumerate(configs):
        rebuilt.place(index, config)
        rebuilt.tell(index, *outcome(index, config))

    def essence(suggester):
        return [
            (t.number, t.state, t.value, t.params, t.intermediate_values, t.distributions)
            for t in suggester.study.trials
        ]

    assert essence(rebuilt) == essence(live)


def test_other_seeds_give_other_suggestions():
    assert searched(10, seed=1)[1] != searched(10, seed=2)[1]


def test_optuna_hears_complete_pruned_and_failed_apart():
    suggester, _ = searched(21)
    states = [trial.state for trial in suggester.study.trials]
    for index, state in enumerate(states):
        told, value, path = outcome(index, suggester.study.trials[index].params)
        expected = "FAIL" if told == "FAILED" else told
        assert state.name == expected
        if told == "PRUNED":
            assert suggester.study.trials[index].value == path[-1][1]
        else:
            assert suggester.study.trials[index].value == value


def test_a_default_outside_the_space_is_not_learnt_from():
    suggester = suggester_of(sampler="tpe", trials=5, seed=0)
    suggester.place(0, {**DEFAULT, "margin": 3.0})
    suggester.tell(0, "COMPLETE", 1.0)
    assert suggester.study.trials[0].state == optuna.trial.TrialState.FAIL
    assert set(suggester.suggest(1)) == set(DEFAULT)


def test_a_search_by_tpe_beats_chance_on_an_easy_hill():
    # Six standard deviations would be needed for 100 random margins to come closer on average.
    _, configs = searched(40)
    late = [abs(config["margin"] - 0.3) for config in configs[25:]]
    assert sum(late) / len(late) < 0.2

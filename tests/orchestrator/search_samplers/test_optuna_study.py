import statistics
from dataclasses import replace

import optuna

from podium.orchestrator.search_samplers.optuna_study import OptunaSuggester
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.search_spaces.parameters import Choice, Int, Real, Space
from tests.orchestrator.search_samplers.searching import task_of

SPACE = Space(
    {
        "margin": Real(low=0.0, high=1.0),
        "rate": Real(low=1e-4, high=1e-1, log=True),
        "centres": Int(low=1, high=8),
        "pooling": Choice(values=("avg", "max")),
    }
)
DEFAULT = {"margin": 0.5, "rate": 1e-2, "centres": 2, "pooling": "avg"}


def optuna_suggester(
    *, sampler="tpe", trials=40, seed=1, space=SPACE, values=DEFAULT, conditions=None
):
    return OptunaSuggester(task_of(space, values, conditions, trials=trials, seed=seed), sampler)


def outcome(index, config):
    """A made-up result: every third suggestion is pruned, every seventh fails."""
    value = 1 - (config["margin"] - 0.3) ** 2
    if index % 7 == 6:
        return "FAILED", None, ()
    if index % 3 == 2:
        return "PRUNED", None, ((1, value / 2),)
    return "COMPLETE", value, ((1, value / 2), (2, value))


def search_with_pruning(num_trials, seed=1, sampler="tpe"):
    suggester = optuna_suggester(sampler=sampler, trials=40, seed=seed)
    suggester.set_suggestion(0, DEFAULT)
    suggester.tell(0, Outcome(*outcome(0, DEFAULT)))
    configs = [DEFAULT]
    for index in range(1, num_trials):
        configs.append(suggester.suggest(index))
        suggester.tell(index, Outcome(*outcome(index, configs[-1])))
    return suggester, configs


def test_a_rebuilt_study_holds_the_same_trials():
    live, configs = search_with_pruning(20)
    rebuilt = optuna_suggester(sampler="tpe", trials=40, seed=1)
    for index, config in enumerate(configs):
        rebuilt.set_suggestion(index, config)
        rebuilt.tell(index, Outcome(*outcome(index, config)))

    def essence(suggester):
        return [
            (t.number, t.state, t.value, t.params, t.intermediate_values, t.distributions)
            for t in suggester.study.trials
        ]

    assert essence(rebuilt) == essence(live)


def test_optuna_distinguishes_complete_pruned_and_failed_trials():
    suggester, _ = search_with_pruning(21)
    states = [trial.state for trial in suggester.study.trials]
    for index, state in enumerate(states):
        given, value, path = outcome(index, suggester.study.trials[index].params)
        expected = "FAIL" if given == "FAILED" else given
        assert state.name == expected
        if given == "PRUNED":
            assert suggester.study.trials[index].value == path[-1][1]
        else:
            assert suggester.study.trials[index].value == value


def test_a_default_that_a_list_of_values_leaves_out_is_not_learnt_from():
    space = Space({"margin": Choice((0.1, 0.2)), "kind": Choice(("a", "b"))})
    for default in ({"margin": 0.5, "kind": "a"}, {"margin": 0.1, "kind": "c"}):
        suggester = OptunaSuggester(task_of(space, {}, trials=5, seed=0), "tpe")
        suggester.set_suggestion(0, default)
        suggester.tell(0, Outcome("COMPLETE", 1.0))
        assert suggester.study.trials[0].state == optuna.trial.TrialState.FAIL
        assert suggester.suggest(1)["margin"] in (0.1, 0.2)


def batches(num_batches, size, *, in_batches, seed=1):
    """Margins of each batch, all of which is open until all of it ends."""
    task = task_of(Space({"margin": Real(0.0, 1.0)}), {"margin": 0.5}, trials=40, seed=seed)
    suggester, found = OptunaSuggester(replace(task, in_batches=in_batches), "tpe"), []
    for first in range(0, num_batches * size, size):
        batch = range(first, first + size)
        found.append([suggester.suggest(index)["margin"] for index in batch])
        for index, margin in zip(batch, found[-1], strict=True):
            suggester.tell(index, Outcome("COMPLETE", 1.0 - (margin - 0.3) ** 2))
    return found


def test_a_batch_by_tpe_does_not_crowd_at_the_best_so_far():
    def spread(*, in_batches):
        seeds = range(10)
        last = [batches(3, 12, in_batches=in_batches, seed=seed)[-1] for seed in seeds]
        return statistics.mean(map(statistics.stdev, last))

    assert spread(in_batches=True) > 1.2 * spread(in_batches=False)


def test_a_rebuilt_search_continues_in_the_middle_of_a_batch():
    first, second = batches(2, 12, in_batches=True)
    task = task_of(Space({"margin": Real(0.0, 1.0)}), {"margin": 0.5}, trials=40)
    rebuilt = OptunaSuggester(replace(task, in_batches=True), "tpe")
    for index, margin in enumerate([*first, *second[:5]]):
        rebuilt.set_suggestion(index, {"margin": margin})
    for index, margin in enumerate(first):
        rebuilt.tell(index, Outcome("COMPLETE", 1.0 - (margin - 0.3) ** 2))
    assert rebuilt.suggest(17) == {"margin": second[5]}

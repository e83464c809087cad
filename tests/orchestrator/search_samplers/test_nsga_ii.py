import random

from optuna.trial import TrialState

from podium.orchestrator.search_samplers.optuna_study import OptunaSuggester
from podium.search_spaces.parameters import Real, Space
from tests.orchestrator.search_samplers.searching import Outcome, in_turn, task_of

SPACE = Space({name: Real(0.0, 1.0) for name in "xyz"})
DEFAULT = dict.fromkeys("xyz", 0.5)
WORST = (0.0, 2.0)


def optuna_suggester_of_three(sampler, num_trials, seed):
    return OptunaSuggester(task_of(SPACE, DEFAULT, trials=num_trials, seed=seed), sampler)


def two_ends(y, z):
    """Recall is best at x = 0.9 and training is fastest at x = 0.1; both want one y and one z."""

    def outcome(_, config):
        off = (config["y"] - y) ** 2 + (config["z"] - z) ** 2
        recall = 1 - (config["x"] - 0.9) ** 2 - off
        return Outcome("COMPLETE", recall, seconds=1 + (config["x"] - 0.1) ** 2 + off)

    return outcome


def area_dominated(points):
    """Of recall and seconds together, counted square by square."""
    cells = 40
    recalls = [WORST[0] + (i + 0.5) / cells for i in range(cells)]
    seconds = [WORST[1] - (i + 0.5) / cells for i in range(cells)]
    hit = sum(
        any(r >= low and s <= high for r, s in points) for low in recalls for high in seconds
    )
    return hit / cells**2


def mean_area(sampler, num_trials, num_seeds):
    areas = []
    for seed in range(num_seeds):
        draw = random.Random(seed)
        outcome = two_ends(draw.uniform(0.1, 0.9), draw.uniform(0.1, 0.9))
        configs = in_turn(
            optuna_suggester_of_three(sampler, num_trials, seed), num_trials, outcome, DEFAULT
        )
        outcomes = [outcome(0, config) for config in configs]
        areas.append(area_dominated([(one.objective, one.seconds) for one in outcomes]))
    return sum(areas) / num_seeds


def test_the_front_it_finds_dominates_more_than_that_of_chance():
    assert mean_area("nsga-ii", 60, 15) > mean_area("random", 60, 15) + 0.01


def test_parents_are_the_front_of_all_trials_so_far_and_the_next_ones():
    suggester = optuna_suggester_of_three("nsga-ii", 32, seed=3)
    in_turn(suggester, 16, two_ends(0.4, 0.6), DEFAULT)
    sampler = suggester.study.sampler
    parents = sampler.get_parent_population(suggester.study, 1)
    assert len(parents) == sampler.population_size == 4
    front = {trial.number for trial in suggester.study.best_trials}
    assert front & {trial.number for trial in parents}
    assert front >= {trial.number for trial in parents} or front < {t.number for t in parents}


def test_optuna_gets_both_objectives_and_failures():
    suggester = optuna_suggester_of_three("nsga-ii", 16, seed=3)
    suggester.set_suggestion(0, DEFAULT)
    suggester.tell(0, Outcome("COMPLETE", 0.6, ((1, 0.6),), seconds=2.5))
    suggester.suggest(1)
    suggester.tell(1, Outcome("FAILED", None, (), seconds=0.1))
    first, second = suggester.study.trials
    assert first.values == [0.6, 2.5]
    assert [direction.name for direction in suggester.study.directions] == ["MAXIMIZE", "MINIMIZE"]
    assert second.state == TrialState.FAIL

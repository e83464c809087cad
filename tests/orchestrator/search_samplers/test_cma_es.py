import random

import pytest

from podium.orchestrator.search_samplers.cma_es import CmaEsSuggester
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.search_spaces.parameters import Choice, Condition, Int, Real, Space
from tests.orchestrator.search_samplers.searching import task_of

CENTRE = {"x": 0.5, "y": 0.5}
GENERATION = 6  # of two numbers: 4 + floor(3 ln 2)


def cma_es_suggester(ranges=None, values=CENTRE, conditions=None, seed=5):
    space = Space(ranges or {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)})
    return CmaEsSuggester(task_of(space, values, conditions, seed=seed))


def draws(suggester, name="x", first=100, number=40):
    """Many suggestions from where it stands."""
    return [suggester.suggest(index)[name] for index in range(first, first + number)]


def mean(values):
    return sum(values) / len(values)


def with_generation(outcome, size=GENERATION):
    """A suggester that knows one generation, spread over x alike whatever its outcome."""
    suggester = cma_es_suggester()
    for index in range(size):
        x = index / (GENERATION - 1)
        suggester.set_suggestion(index, {"x": x, "y": 0.5})
        suggester.tell(index, Outcome(*outcome(x)))
    return suggester


def test_a_generation_moves_the_distribution_to_its_better_half():
    right = with_generation(lambda x: ("COMPLETE", x))
    left = with_generation(lambda x: ("COMPLETE", -x))
    assert mean(draws(left)) < 0.4 < 0.6 < mean(draws(right))


def test_a_generation_counts_when_all_of_it_has_ended():
    unmoved = draws(cma_es_suggester())
    assert draws(with_generation(lambda x: ("COMPLETE", x), size=GENERATION - 1)) == unmoved


def test_only_the_order_of_objectives_counts():
    one = with_generation(lambda x: ("COMPLETE", x))
    assert draws(one) == draws(with_generation(lambda x: ("COMPLETE", 7 + 100 * x)))


def test_pruned_trials_rank_behind_complete_ones_and_before_failed_ones():
    def outcome(x):
        if x > 0.7:
            return "COMPLETE", x
        return ("PRUNED", None, ((1, 0.9), (3, x))) if x > 0.1 else ("FAILED", None)

    assert draws(with_generation(outcome)) == draws(with_generation(lambda x: ("COMPLETE", x)))


def test_of_pruned_trials_the_one_that_came_further_is_better_whatever_its_score():
    def outcome(x):
        return "PRUNED", None, ((1 if x < 0.5 else 3, -x if x >= 0.5 else 1 - x),)

    further = with_generation(outcome)
    assert mean(draws(further)) > 0.6


def test_a_generation_of_failures_teaches_nothing():
    assert draws(with_generation(lambda _: ("FAILED", None))) == draws(cma_es_suggester())


def test_a_config_outside_the_space_is_no_part_of_a_generation():
    suggester = cma_es_suggester()
    suggester.set_suggestion(0, {"x": 2.0, "y": 0.5})
    suggester.tell(0, Outcome("COMPLETE", 1e9))
    for index in range(GENERATION):
        x = index / (GENERATION - 1)
        suggester.set_suggestion(index + 1, {"x": x, "y": 0.5})
        suggester.tell(index + 1, Outcome("COMPLETE", x))
    assert draws(suggester) == draws(with_generation(lambda x: ("COMPLETE", x)))


def test_a_number_that_a_config_lacks_is_moved_by_none_of_it():
    ranges = {"centres": Int(1, 4), "tau": Real(0.0, 1.0)}
    conditions = {"tau": Condition("centres", above=1)}
    suggester = cma_es_suggester(ranges, {"centres": 1, "tau": 0.5}, conditions)
    for index in range(GENERATION):
        suggester.set_suggestion(index, {"centres": 1})
        suggester.tell(index, Outcome("COMPLETE", float(index)))
    taus = [
        config["tau"]
        for config in (suggester.suggest(index) for index in range(50, 300))
        if "tau" in config
    ]
    assert len(taus) > 20
    assert mean(taus) == pytest.approx(0.5, abs=0.1)


def test_values_of_a_list_are_drawn_evenly_whatever_their_outcomes():
    ranges = {"x": Real(0.0, 1.0), "pooling": Choice(("avg", "max"))}
    suggester = cma_es_suggester(ranges, {"x": 0.5, "pooling": "avg"})
    for index in range(40):
        pooling = suggester.suggest(index)["pooling"]
        suggester.tell(index, Outcome("COMPLETE", float(pooling == "max")))
    later = [suggester.suggest(index)["pooling"] for index in range(40, 140)]
    assert 30 < later.count("max") < 70


def test_one_number_alone_is_searched():
    suggester = cma_es_suggester({"x": Real(0.0, 1.0)}, {"x": 0.5})
    configs = [suggester.suggest(0)["x"]]
    for index in range(1, 40):
        suggester.tell(index - 1, Outcome("COMPLETE", -abs(configs[-1] - 0.83)))
        configs.append(suggester.suggest(index)["x"])
    assert mean(configs[-8:]) == pytest.approx(0.83, abs=0.05)


def test_whole_numbers_and_steps_are_found():
    ranges = {"centres": Int(1, 10), "cut": Real(0.0, 1.0, step=0.1)}
    found = 0
    for seed in range(10):
        draw = random.Random(seed)
        best = {"centres": draw.randint(1, 10), "cut": draw.randint(0, 10) / 10}
        suggester = cma_es_suggester(ranges, {"centres": 5, "cut": 0.5}, seed=seed)
        configs = []
        for index in range(50):
            configs.append(suggester.suggest(index))
            off = [abs(configs[-1][name] - best[name]) for name in best]
            suggester.tell(index, Outcome("COMPLETE", -(off[0] / 10) - off[1]))
        found += best in configs
    assert found >= 8  # of 110 points, 50 random ones would find 4 in 10

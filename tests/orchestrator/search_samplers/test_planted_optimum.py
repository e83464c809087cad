import random

import pytest

from podium.search_spaces.parameters import Real, Space
from tests.orchestrator.search_samplers.searching import MAKERS, best_of, bowl, in_turn

CENTRE = {"x": 0.5, "y": 0.5}
SQUARE = Space({name: Real(0.0, 1.0) for name in CENTRE})
STEPS = Space({name: Real(0.0, 1.0, step=0.1) for name in CENTRE})


def mean_error(name, *, num_trials, num_seeds):
    """Mean distance of the best config from a planted optimum, in the unit square."""
    errors = []
    for seed in range(num_seeds):
        draw = random.Random(1000 + seed)
        surface = bowl({key: draw.uniform(0.05, 0.95) for key in CENTRE})
        space = STEPS if name == "coordinate" else SQUARE
        suggester = MAKERS[name](space, CENTRE, {}, seed, num_trials)
        configs = in_turn(suggester, num_trials, surface, CENTRE)
        errors.append((-best_of(configs, surface)) ** 0.5)
    return sum(errors) / num_seeds


# How much closer than random search at the same number of trials: each well beyond chance, which
# moves these means by a few per cent.
@pytest.mark.parametrize(
    ("name", "num_trials", "num_seeds", "share"),
    [
        ("qmc", 17, 100, 0.95),
        ("tpe", 26, 12, 0.75),
        ("coordinate", 26, 60, 0.6),
        ("gp", 12, 2, 0.3),
    ],
)
def test_a_sampler_comes_closer_to_a_planted_optimum_than_chance(
    name, num_trials, num_seeds, share
):
    chance = mean_error("random", num_trials=num_trials, num_seeds=100)
    assert mean_error(name, num_trials=num_trials, num_seeds=num_seeds) < share * chance

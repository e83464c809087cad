"""Searches without trials: a surface says at once how good a config is."""

import random

from podium.orchestrator.search_samplers.make_sampler import make_suggester
from podium.orchestrator.search_samplers.sampler_names import SAMPLERS
from podium.orchestrator.search_samplers.suggester import Outcome, SearchTask
from podium.search_spaces.parameters import Choice, Condition, Int, Real, Space, existing

# Everything a space can hold: with steps and without, logarithmic, a list, and a condition.
SPACE = Space(
    {
        "margin": Real(0.0, 1.0),
        "rate": Real(1e-4, 1e-1, log=True),
        "cut": Real(0.0, 1.0, step=0.1),
        "centres": Int(1, 10, log=True),
        "tau": Real(0.0, 2.0),
        "pooling": Choice(("avg", "max")),
    }
)
# The same, for samplers that try all values.
LISTED = Space(
    {
        "margin": Real(0.0, 1.0, step=0.1),
        "rate": Choice((1e-4, 1e-3, 1e-2)),
        "cut": Real(0.0, 0.9, step=0.3),
        "centres": Int(1, 3, log=True),
        "tau": Real(0.2, 2.2, step=1.0),
        "pooling": Choice(("avg", "max")),
    }
)
CONDITIONS = {"tau": Condition("centres", above=1)}
DEFAULT = {
    "margin": 0.5,
    "rate": 1e-2,
    "cut": 0.3,
    "centres": 1,
    "pooling": "avg",
    "fixed": 7,
}
VALUES = {**DEFAULT, "tau": 0.2}


def mixed_outcome(index, config):
    """Every third is pruned, every seventh fails, and none of it depends on when it is asked."""
    value = 1 - (config["margin"] - 0.3) ** 2 - 0.1 * (config["pooling"] == "max")
    if index % 7 == 6:
        return Outcome("FAILED", None, ())
    if index % 3 == 2:
        return Outcome("PRUNED", None, ((1, value / 2),))
    return Outcome("COMPLETE", value, ((1, value / 2), (2, value)))


def in_turn(suggester, num_trials, outcome, default=DEFAULT):
    """One trial at a time, the default first."""
    suggester.set_suggestion(0, default)
    suggester.tell(0, outcome(0, default))
    configs = [default]
    while len(configs) < num_trials and not suggester.is_exhausted:
        configs.append(suggester.suggest(len(configs)))
        suggester.tell(len(configs) - 1, outcome(len(configs) - 1, configs[-1]))
    return configs


class Workers:
    """Several trials at a time, which end in an order drawn once and for all."""

    def __init__(self, suggester, num_workers, outcome, seed=0):
        self.suggester = suggester
        self._num_workers = num_workers
        self._outcome = outcome
        self._draw = random.Random(seed)
        self.configs = []
        self.ended = []
        self._open = []

    def run(self, num_trials):
        while len(self.configs) < num_trials:
            if len(self._open) < self._num_workers:
                self._start()
            else:
                self._end(self._open.pop(self._draw.randrange(len(self._open))))
        return self.configs

    def interrupt(self, make):
        """Go on with a suggester that is rebuilt as a restart does it: asks first to last."""
        self.suggester = rebuilt(make, self.configs, set(self.ended), self._outcome)

    def _start(self):
        index = len(self.configs)
        if index:
            self.configs.append(self.suggester.suggest(index))
        else:
            self.suggester.set_suggestion(0, DEFAULT)
            self.configs.append(DEFAULT)
        self._open.append(index)

    def _end(self, index):
        self.ended.append(index)
        self.suggester.tell(index, self._outcome(index, self.configs[index]))


def rebuilt(make, configs, ended, outcome):
    suggester = make()
    for index, config in enumerate(configs):
        suggester.set_suggestion(index, config)
        if index in ended:
            suggester.tell(index, outcome(index, config))
    return suggester


def bowl(optimum):
    """Highest, 0, where every number is at its optimum; the distance squared elsewhere."""
    return lambda _, config: Outcome(
        "COMPLETE", -sum((config[name] - best) ** 2 for name, best in optimum.items())
    )


def best_of(configs, surface):
    return max(surface(i, config).objective for i, config in enumerate(configs))


def task_of(space, values, conditions=None, *, trials=8, seed=1, first=()):
    return SearchTask(
        space=space,
        values=values,
        conditions=conditions or {},
        trials=trials,
        seed=seed,
        first=first,
    )


def _maker(name):
    def make(space, values, conditions, seed, trials):
        first = [existing(values, conditions)]
        task = task_of(space, values, conditions, trials=trials, seed=seed, first=first)
        return make_suggester(name, task)

    return make


MAKERS = {name: _maker(name) for name in SAMPLERS}

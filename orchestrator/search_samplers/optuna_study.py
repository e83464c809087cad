"""Suggestions by a sampler of Optuna, from an in-memory study that is rebuilt after a restart.

A suggestion depends only on seed and earlier trials: it has a sampler of its own, seeded by search
and suggestion, and no state but the study's trials is carried from one to the next.
Hyperparameters that do not exist in every config are drawn independently: values drawn jointly and
then not used would be remembered by an uninterrupted search and unknown to a rebuilt one.
"""

from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Literal

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

from podium.orchestrator.ids_and_seeds import seed_for
from podium.orchestrator.search_samplers.suggester import Outcome, SearchTask, Suggester
from podium.orchestrator.search_samplers.unit_cube import is_inside
from podium.search_spaces.parameters import Choice, Int, Real, Value

optuna.logging.set_verbosity(optuna.logging.WARNING)

OPTUNA_STATES = {
    "COMPLETE": optuna.trial.TrialState.COMPLETE,
    "PRUNED": optuna.trial.TrialState.PRUNED,
    "FAILED": optuna.trial.TrialState.FAIL,
}
"""State of a trial -> what Optuna calls it."""

OptunaSamplerName = Literal["tpe", "random", "gp"]


class OptunaSuggester(Suggester):
    """Suggestions by a sampler of Optuna; see `Suggester`.

    Optuna is told COMPLETE with the objective, PRUNED with the path, and FAIL. TPE alone learns
    from pruned trials.

    What it is told reaches Optuna with the next suggestion: a restart tells it of all trials of
    searches that run, of which few suggest at once, and most have little to suggest.
    """

    def __init__(self, task: SearchTask, sampler: OptunaSamplerName) -> None:
        self._task = task
        self._distributions = {
            name: distribution_of(parameter) for name, parameter in task.space.parameters.items()
        }
        conditional = task.conditions.keys() & self._distributions.keys()
        self._sampler_of = partial(
            _sampler_of, sampler, task.trials, conditional, in_batches=task.in_batches
        )
        self._study = optuna.create_study(direction="maximize", sampler=RandomSampler(seed=0))
        self._open: dict[int, optuna.Trial] = {}
        self._later: deque[Callable[[], None]] = deque()

    @property
    def study(self) -> optuna.Study:
        """The Optuna study with all that it was told, for inspection."""
        while self._later:
            self._later.popleft()()
        return self._study

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`."""
        self.study.sampler = self._sampler_of(seed=seed_for(self._task.seed, "suggestion", index))
        trial = self._ask()
        assert trial.number == index, "suggestions are drawn in order"
        self._open[index] = trial
        return self._task.config(trial.params)

    def _ask(self) -> optuna.Trial:
        """A trial with a value for everything that is searched and exists."""
        free = {
            name: distribution
            for name, distribution in self._distributions.items()
            if name not in self._task.conditions
        }
        trial = self._study.ask(free)
        for name, condition in self._task.conditions.items():
            if name in self._distributions and condition.holds(
                {**self._task.values, **trial.params}
            ):
                _suggest(trial, name, self._distributions[name])
        return trial

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.set_suggestion`.

        A config outside the space, such as a published default that the space leaves out, is
        closed as failed at once, so that Optuna ignores it.
        """
        self._later.append(partial(self._set, index, hyperparameters))

    def _set(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        tried = self._task.space.parameters
        params = {name: hyperparameters[name] for name in tried if name in hyperparameters}
        self._study.sampler = RandomSampler(seed=0)  # draws nothing: every value is fixed
        if not all(is_inside(tried[name], value) for name, value in params.items()):
            self._study.tell(self._study.ask(), state=optuna.trial.TrialState.FAIL)
            return
        self._study.enqueue_trial(params)
        trial = self._ask()
        assert trial.number == index, "suggestions are set in order"
        self._open[index] = trial

    def tell(self, index: int, outcome: Outcome) -> None:
        """See `Suggester.tell`."""
        self._later.append(partial(self._tell, index, outcome))

    def _tell(self, index: int, outcome: Outcome) -> None:
        trial = self._open.pop(index, None)
        if trial is None:  # outside the space
            return
        for step, score in outcome.path:
            trial.report(score, step)
        value = outcome.objective if outcome.state == "COMPLETE" else None
        self._study.tell(trial, value, state=OPTUNA_STATES[outcome.state])


def _suggest(trial: optuna.Trial, name: str, distribution: BaseDistribution) -> None:
    match distribution:
        case CategoricalDistribution(choices=choices):
            trial.suggest_categorical(name, choices)
        case IntDistribution(low=low, high=high, step=step, log=log):
            trial.suggest_int(name, low, high, step=step, log=log)
        case FloatDistribution(low=low, high=high, step=step, log=log):
            trial.suggest_float(name, low, high, step=step, log=log)


def distribution_of(parameter: Real | Int | Choice) -> BaseDistribution:
    """The distribution of Optuna for a range or choice of a search space."""
    if isinstance(parameter, Choice):
        return CategoricalDistribution(parameter.values)
    if isinstance(parameter, Int):
        return IntDistribution(
            parameter.low, parameter.high, log=parameter.log, step=parameter.step or 1
        )
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def _sampler_of(
    name: OptunaSamplerName,
    trials: int,
    conditional: Collection[str],
    *,
    in_batches: bool,
    seed: int,
) -> BaseSampler:
    """The sampler of one suggestion of a search of so many trials.

    Conditional hyperparameters do not exist in every config. In batches many suggestions are open
    at a time: TPE then takes those for bad ones (constant liar), which keeps them from crowding.
    """
    # Optuna starts with 10 random trials whatever the budget; here at most a third of it.
    num_startup = max(3, min(10, trials // 3))
    made: _WithIndependent
    match name:
        case "random":
            return RandomSampler(seed=seed)
        case "tpe":
            made = _Tpe(seed=seed, n_startup_trials=num_startup, constant_liar=in_batches)
        case "gp":
            made = _Gp(seed=seed, n_startup_trials=num_startup, warn_independent_sampling=False)
    made.independent = conditional
    return made


class _WithIndependent(BaseSampler):
    """A sampler that draws some hyperparameters independently of the others."""

    independent: Collection[str] = ()

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The hyperparameters that are drawn jointly."""
        space = super().infer_relative_search_space(study, trial)  # type: ignore[safe-super]
        return {name: tried for name, tried in space.items() if name not in self.independent}


class _Tpe(_WithIndependent, TPESampler):
    pass


class _Gp(_WithIndependent, GPSampler):
    pass

"""One search's Optuna study, in memory: asked, told, and rebuilt by asking and telling again.

Suggestion i is drawn with a sampler seeded by (search seed, i), so it depends on nothing but the
results told before it: a rebuilt search continues as the old one would have.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler, TPESampler

from orchestrator.identity import seed_for
from search_spaces.params import Choice, Condition, Int, Real, Space, existing
from trainables.settings import HyperparameterValue

__all__ = ["OptunaSuggester", "Suggester", "TrialState"]

optuna.logging.set_verbosity(optuna.logging.WARNING)

TrialState = Literal["COMPLETE", "PRUNED", "FAILED"]

_OPTUNA_STATES = {
    "COMPLETE": optuna.trial.TrialState.COMPLETE,
    "PRUNED": optuna.trial.TrialState.PRUNED,
    "FAILED": optuna.trial.TrialState.FAIL,
}


class Suggester(Protocol):
    """Suggestions of one search, numbered from 0 in their order."""

    def suggest(self, index: int) -> dict[str, HyperparameterValue]:
        """Draw the config of suggestion ``index``; everything told so far is considered."""

    def place(self, index: int, hyperparameters: Mapping[str, HyperparameterValue]) -> None:
        """Take ``hyperparameters`` as suggestion ``index``: the default, or one asked before."""

    def tell(
        self,
        index: int,
        state: TrialState,
        objective: float | None,
        path: Sequence[tuple[int, float]] = (),
    ) -> None:
        """Tell how suggestion ``index`` ended.

        Args:
            index: the suggestion.
            state: COMPLETE needs an objective; PRUNED is told its last score on the way.
            objective: value of the selection rule.
            path: (step, score) pairs on the way.
        """


class OptunaSuggester:
    """Suggestions by a sampler of Optuna; see `Suggester`.

    Args:
        space: what is searched.
        values: of every hyperparameter, where the space does not say otherwise.
        conditions: of the hyperparameters that do not exist in every config.
        sampler: Optuna's TPE, or random.
        trials: budget of the search.
        seed: of the search.
    """

    def __init__(
        self,
        space: Space,
        *,
        values: Mapping[str, HyperparameterValue],
        conditions: Mapping[str, Condition],
        sampler: Literal["tpe", "random"],
        trials: int,
        seed: int,
    ) -> None:
        self._distributions = {
            name: _distribution(parameter) for name, parameter in space.parameters.items()
        }
        self._values = values
        self._conditions = conditions
        self._make_sampler = _sampler_factory(sampler, trials)
        self._seed = seed
        self._study = optuna.create_study(direction="maximize", sampler=RandomSampler(seed=0))
        self._open: dict[int, optuna.Trial] = {}

    @property
    def study(self) -> optuna.Study:
        """The Optuna study, for looking at."""
        return self._study

    def suggest(self, index: int) -> dict[str, HyperparameterValue]:
        """See `Suggester.suggest`."""
        self._study.sampler = self._make_sampler(seed_for(self._seed, "suggestion", index))
        trial = self._ask()
        assert trial.number == index, "suggestions are drawn in order"
        self._open[index] = trial
        return existing({**self._values, **trial.params}, self._conditions)

    def _ask(self) -> optuna.Trial:
        """A trial with a value for everything that is searched and exists."""
        free = {
            name: distribution
            for name, distribution in self._distributions.items()
            if name not in self._conditions
        }
        trial = self._study.ask(free)
        for name, condition in self._conditions.items():
            if name in self._distributions and condition.holds({**self._values, **trial.params}):
                _suggest(trial, name, self._distributions[name])
        return trial

    def place(self, index: int, hyperparameters: Mapping[str, HyperparameterValue]) -> None:
        """See `Suggester.place`.

        A config outside the space (a published default the space leaves out) is closed as failed
        at once: Optuna learns nothing from it.
        """
        params = {
            name: hyperparameters[name] for name in self._distributions if name in hyperparameters
        }
        inside = all(_holds(self._distributions[name], value) for name, value in params.items())
        self._study.sampler = RandomSampler(seed=0)  # draws nothing: every value is fixed
        if not inside:
            self._study.tell(self._study.ask(), state=optuna.trial.TrialState.FAIL)
            return
        self._study.enqueue_trial(params)
        trial = self._ask()
        assert trial.number == index, "suggestions are placed in order"
        self._open[index] = trial

    def tell(
        self,
        index: int,
        state: TrialState,
        objective: float | None,
        path: Sequence[tuple[int, float]] = (),
    ) -> None:
        """See `Suggester.tell`."""
        trial = self._open.pop(index, None)
        if trial is None:  # outside the space
            return
        for step, score in path:
            trial.report(score, step)
        values = objective if state == "COMPLETE" else None
        self._study.tell(trial, values, state=_OPTUNA_STATES[state])


def _holds(distribution: BaseDistribution, value: HyperparameterValue) -> bool:
    if isinstance(distribution, CategoricalDistribution):
        return value in distribution.choices  # of others it has no internal representation
    return distribution._contains(distribution.to_internal_repr(value))


def _suggest(trial: optuna.Trial, name: str, distribution: BaseDistribution) -> None:
    match distribution:
        case CategoricalDistribution(choices=choices):
            trial.suggest_categorical(name, choices)
        case IntDistribution(low=low, high=high, step=step, log=log):
            trial.suggest_int(name, low, high, step=step, log=log)
        case FloatDistribution(low=low, high=high, step=step, log=log):
            trial.suggest_float(name, low, high, step=step, log=log)


def _sampler_factory(name: Literal["tpe", "random"], trials: int) -> Callable[[int], BaseSampler]:
    if name == "random":
        return lambda seed: RandomSampler(seed=seed)
    # Optuna starts with 10 random trials whatever the budget: a third of a small one must do.
    num_startup = max(3, min(10, trials // 3))
    return lambda seed: TPESampler(seed=seed, n_startup_trials=num_startup)


def _distribution(parameter: Real | Int | Choice) -> BaseDistribution:
    if isinstance(parameter, Choice):
        return CategoricalDistribution(parameter.values)
    if isinstance(parameter, Int):
        return IntDistribution(
            parameter.low, parameter.high, log=parameter.log, step=parameter.step or 1
        )
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)

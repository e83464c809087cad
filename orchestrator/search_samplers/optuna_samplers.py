"""Samplers of Optuna, made so that a suggestion depends only on seed and earlier trials.

Each suggestion has a sampler of its own, seeded by search and suggestion: no state but the study's
trials is carried from one to the next. Hyperparameters that do not exist in every config are drawn
independently: values drawn jointly and then not used would be remembered by an uninterrupted
search and unknown to a rebuilt one.
"""

from collections.abc import Collection
from typing import Literal

from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

OptunaSamplerName = Literal["tpe", "random", "gp"]


def sampler_of(
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
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The hyperparameters that are drawn jointly."""
        space = super().infer_relative_search_space(study, trial)  # type: ignore[safe-super]
        return {name: tried for name, tried in space.items() if name not in self.independent}


class _Tpe(_WithIndependent, TPESampler):
    pass


class _Gp(_WithIndependent, GPSampler):
    pass

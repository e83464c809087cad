"""How many configs a search tries: its budget, unless there are not that many."""

from collections.abc import Mapping, Sequence

from orchestrator.search_samplers.evenly_spaced import spaced_values
from orchestrator.search_samplers.factorial import points_within, trials_needed
from orchestrator.study.configs import default_config, space_of, unsearched_values
from orchestrator.study.given_configs import given_configs
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Block, Study
from search_spaces.parameters import Choice, Condition, Int, Real, Space, Value, existing

__all__ = ["num_tried"]


def num_tried(study: Study, block: Block, loss: str) -> int:
    """At most so many distinct configs, the default and those given first included.

    A space of lists and steps may have fewer than the budget; a grid is as fine as the budget
    allows, and rarely uses it up; one hyperparameter at a time ends with its sweeps.
    """
    trials, sampler = study.search.trials, study.search.sampler
    values = unsearched_values(study, block, loss)
    space = space_of(study, loss, values)
    conditions = facts_of(loss).conditions
    first = (default_config(study, block, loss), *given_configs(study, block, loss))
    if sampler == "coordinate":
        return min(trials, _num_swept(space, values, conditions, first, trials))
    if sampler == "grid":
        points = points_within(space, values, conditions, trials=trials, first=first)
    else:
        listed = {name: _values(tried, trials) for name, tried in space.parameters.items()}
        points = {name: found for name, found in listed.items() if found is not None}
        if len(points) < len(listed):
            return trials
    design = Space({name: Choice(found) for name, found in points.items()})
    return min(trials, trials_needed(design, values, conditions, first))


def _values(tried: Real | Int | Choice, most: int) -> tuple[Value, ...] | None:
    """Its first ``most`` values, which are enough to fill a budget; None without steps."""
    if isinstance(tried, Choice):
        return tried.values[:most]
    if isinstance(tried, Real) and tried.step is None:
        return None
    step = tried.step or 1
    number = min(most, round((tried.high - tried.low) / step) + 1)
    values = (tried.low + step * index for index in range(number))
    # 0.1 * 3 is not 0.3: what a person would write is meant.
    return tuple(it if isinstance(tried, Int) else float(f"{it:.12g}") for it in values)


def _num_swept(
    space: Space,
    values: Mapping[str, Value],
    conditions: Mapping[str, Condition],
    first: Sequence[Mapping[str, Value]],
    trials: int,
) -> int:
    """The first configs, all sweeps (`search_samplers.coordinate`), their combination."""
    default = existing(values, conditions)
    swept = {name: tried for name, tried in space.parameters.items() if name in default}
    share = max(1, (trials - 2) // max(1, len(swept)))
    found = list(first)
    moving = 0
    for name, tried in swept.items():
        others = [value for value in spaced_values(tried, share) if value != default[name]]
        moving += bool(others)
        for value in others:
            config = existing({**values, name: value}, conditions)
            if config not in found:
                found.append(config)
    return len(found) + (moving > 1)

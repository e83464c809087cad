"""Full factorial designs: which values of each hyperparameter, and how many configs they make.

A range with steps gives all its points, a list all its values. Ranges without steps share what the
budget leaves, so that none has many more points than another.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.search_samplers.evenly_spaced import spaced_values
from orchestrator.search_samplers.suggester import SearchTask
from search_spaces.parameters import Choice, Condition, Int, Real, Value

Points = Mapping[str, tuple[Value, ...]]

_MIN_POINTS = 2  # both ends of a range


def points_within(task: SearchTask) -> Points:
    """The finest design that fits in the budget; first configs outside it cost trials besides.

    The coarsest one if none fits; see `trials_needed`.
    """
    space = task.space.parameters
    points = _coarsest(space)
    refinable = [name for name, tried in space.items() if _is_stepless(tried)]
    while refinable:
        name = min(refinable, key=lambda name: len(points[name]))
        finer = {**points, name: _finer(space[name], len(points[name]))}
        if finer[name] and _num_trials(finer, task) <= task.trials:
            points = finer
        else:
            refinable.remove(name)
    return points


def trials_needed(task: SearchTask) -> int:
    """Trials of the coarsest design, and of the first configs that are not part of it."""
    return _num_trials(_coarsest(task.space.parameters), task)


def num_configs(points: Points, task: SearchTask) -> int:
    """Number of distinct configs; hyperparameters that do not exist multiply nothing."""
    related = _related(points, task.conditions)
    num_independent = math.prod(len(points[name]) for name in points if name not in related)
    return num_independent * sum(1 for _ in _combined(related, points, task))


def configs(points: Points, task: SearchTask) -> Iterator[dict[str, Value]]:
    """Every config of the design once, the last hyperparameter changing fastest."""
    for chosen in _combined(_parents_first(points, task.conditions), points, task):
        yield task.config(chosen)


def _coarsest(space: Mapping[str, Real | Int | Choice]) -> dict[str, tuple[Value, ...]]:
    return {
        name: spaced_values(tried, _MIN_POINTS if _is_stepless(tried) else _num_values(tried))
        for name, tried in space.items()
    }


def _is_stepless(tried: Real | Int | Choice) -> bool:
    """Whether the budget decides how many of its values are tried."""
    return not isinstance(tried, Choice) and tried.step is None


def _num_values(tried: Real | Int | Choice) -> int:
    if isinstance(tried, Choice) or tried.step is None:
        return _MIN_POINTS
    return round((tried.high - tried.low) / tried.step) + 1


def _finer(tried: Real | Int | Choice, num_points: int) -> tuple[Value, ...]:
    """Values of the next finer spacing; empty if there is none.

    Integers evenly spaced in the logarithm may coincide, so one more point may not be enough.
    """
    most = tried.high - tried.low + 1 if isinstance(tried, Int) else num_points + 1
    for number in range(num_points + 1, int(most) + 1):
        values = spaced_values(tried, number)
        if len(values) > num_points:
            return values
    return ()


def _num_trials(points: Points, task: SearchTask) -> int:
    first = (config for config in task.first if not _is_on(points, config))
    return num_configs(points, task) + len({tuple(sorted(config.items())) for config in first})


def _is_on(points: Points, config: Mapping[str, Value]) -> bool:
    return all(config[name] in values for name, values in points.items() if name in config)


def _related(points: Points, conditions: Mapping[str, Condition]) -> list[str]:
    """Hyperparameters with a condition, and those of the design that conditions are on."""
    pairs = [(name, conditions[name].parameter) for name in points if name in conditions]
    related = {name for pair in pairs for name in pair if pair[1] in points}
    # Those with a condition on an unsearched hyperparameter may exist in no config.
    related |= {name for name, parent in pairs if parent not in points}
    return [name for name in _parents_first(points, conditions) if name in related]


def _parents_first(points: Points, conditions: Mapping[str, Condition]) -> list[str]:
    ordered: list[str] = []
    waiting = list(points)
    while waiting:
        name = next(
            name
            for name in waiting
            if name not in conditions or conditions[name].parameter not in waiting
        )
        ordered.append(name)
        waiting.remove(name)
    return ordered


def _combined(
    names: Sequence[str], points: Points, task: SearchTask
) -> Iterator[dict[str, Value]]:
    """Values of ``names``, each only where it exists."""
    if not names:
        yield {}
        return
    *others, last = names
    for chosen in _combined(others, points, task):
        condition = task.conditions.get(last)
        if condition is not None and not condition.holds({**task.values, **chosen}):
            yield chosen
        else:
            yield from ({**chosen, last: value} for value in points[last])

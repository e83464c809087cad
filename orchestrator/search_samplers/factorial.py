"""Full factorial designs: which values of each hyperparameter, and how many configs they make.

A range with steps gives all its points, a list all its values. Ranges without steps share what the
budget leaves, so that none has many more points than another.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.search_samplers.evenly_spaced import spaced_values
from search_spaces.parameters import Choice, Condition, Int, Real, Space, Value, existing

__all__ = ["Points", "configs", "num_configs", "points_within", "trials_needed"]

Points = Mapping[str, tuple[Value, ...]]
Config = Mapping[str, Value]

_FEWEST = 2  # both ends of a range


def points_within(
    space: Space,
    values: Config,
    conditions: Mapping[str, Condition],
    *,
    trials: int,
    first: Sequence[Config] = (),
) -> Points:
    """The finest design that ``trials`` suffice for, the first configs included.

    The coarsest one if they do not suffice at all: `trials_needed` says so beforehand.

    Args:
        space: what is searched.
        values: of every hyperparameter, where the space does not say otherwise.
        conditions: of the hyperparameters that do not exist in every config.
        trials: budget of the search.
        first: configs that are tried whether they are part of the design or not.
    """
    points = _coarsest(space)
    growing = [name for name, tried in space.parameters.items() if _is_open(tried)]
    while growing:
        name = min(growing, key=lambda name: len(points[name]))
        finer = {**points, name: _finer(space.parameters[name], len(points[name]))}
        if finer[name] and _num_trials(finer, values, conditions, first) <= trials:
            points = finer
        else:
            growing.remove(name)
    return points


def trials_needed(
    space: Space,
    values: Config,
    conditions: Mapping[str, Condition],
    first: Sequence[Config] = (),
) -> int:
    """Trials of the coarsest design, and of the first configs that are not part of it."""
    return _num_trials(_coarsest(space), values, conditions, first)


def num_configs(points: Points, values: Config, conditions: Mapping[str, Condition]) -> int:
    """How many configs differ: what a config does not have does not multiply it."""
    related = _related(points, conditions)
    apart = math.prod(len(points[name]) for name in points if name not in related)
    return apart * sum(1 for _ in _combined(related, points, values, conditions))


def configs(
    points: Points, values: Config, conditions: Mapping[str, Condition]
) -> Iterator[dict[str, Value]]:
    """Every config of the design once, the last hyperparameter changing fastest."""
    for chosen in _combined(_parents_first(points, conditions), points, values, conditions):
        yield existing({**values, **chosen}, conditions)


def _coarsest(space: Space) -> dict[str, tuple[Value, ...]]:
    return {
        name: spaced_values(tried, _FEWEST if _is_open(tried) else _all_of(tried))
        for name, tried in space.parameters.items()
    }


def _is_open(tried: Real | Int | Choice) -> bool:
    """Whether the budget decides how many of its values are tried."""
    return not isinstance(tried, Choice) and tried.step is None


def _all_of(tried: Real | Int | Choice) -> int:
    if isinstance(tried, Choice) or tried.step is None:
        return _FEWEST
    return round((tried.high - tried.low) / tried.step) + 1


def _finer(tried: Real | Int | Choice, num_points: int) -> tuple[Value, ...]:
    """The next larger number of values there is; empty if there is none.

    Whole numbers that lie evenly in the logarithm fall together, so one more may not be enough.
    """
    most = tried.high - tried.low + 1 if isinstance(tried, Int) else num_points + 1
    for number in range(num_points + 1, int(most) + 1):
        values = spaced_values(tried, number)
        if len(values) > num_points:
            return values
    return ()


def _num_trials(
    points: Points,
    values: Config,
    conditions: Mapping[str, Condition],
    first: Sequence[Config],
) -> int:
    outside = {tuple(sorted(config.items())) for config in first if not _is_on(points, config)}
    return num_configs(points, values, conditions) + len(outside)


def _is_on(points: Points, config: Config) -> bool:
    return all(config[name] in values for name, values in points.items() if name in config)


def _related(points: Points, conditions: Mapping[str, Condition]) -> list[str]:
    """What depends on another hyperparameter of the design, and what others depend on."""
    pairs = [(name, conditions[name].parameter) for name in points if name in conditions]
    related = {name for pair in pairs for name in pair if pair[1] in points}
    # Of those with a condition on what is not searched, some exist in no config.
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
    names: Sequence[str], points: Points, values: Config, conditions: Mapping[str, Condition]
) -> Iterator[dict[str, Value]]:
    """Values of ``names``, each only where it exists."""
    if not names:
        yield {}
        return
    *others, last = names
    for chosen in _combined(others, points, values, conditions):
        if last in conditions and not conditions[last].holds({**values, **chosen}):
            yield chosen
        else:
            yield from ({**chosen, last: value} for value in points[last])

"""Sweeps: the values of one hyperparameter that a search tries while the others stay."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.search_samplers.evenly_spaced import spaced_values
from orchestrator.search_samplers.suggester import SearchTask
from search_spaces.parameters import Choice, Int, Real, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What is tried of one hyperparameter.

    Attributes:
        name: name of the hyperparameter.
        values: values that are tried, in this order; the unsearched one may be among them.
        num_all: number of values of a list or of a range with steps; None for a range without.
    """

    name: str
    values: tuple[Value, ...]
    num_all: int | None

    @property
    def is_whole(self) -> bool:
        """Whether no value is left out; a range without steps has none to leave out."""
        return self.num_all is None or len(self.values) >= self.num_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """All sweeps of a search.

    Attributes:
        each: one for each hyperparameter, in the order of the space.
        num_others: trials beside them: the default, and a combination where there is one.
    """

    each: tuple[Sweep, ...]
    num_others: int

    @property
    def is_whole(self) -> bool:
        """Whether no value of any list or range with steps is left out."""
        return all(sweep.is_whole for sweep in self.each)

    @property
    def trials_of_whole(self) -> int:
        """The smallest budget that leaves no value out; ranges without steps share in it."""
        needs = [sweep.num_all for sweep in self.each if sweep.num_all is not None]
        num_stepless = len(self.each) - len(needs)
        return self.num_others + sum(needs) + num_stepless * max(needs, default=1)


def independent_sweeps(task: SearchTask) -> Sweeps:
    """Sweeps from the unsearched values, which leave a trial for the combination of the best.

    A hyperparameter that does not exist at the unsearched values is not swept.
    """
    default = task.config({})
    existing = [name for name in task.space.parameters if name in default]
    return _sweeps(task, existing, num_others=2)


def successive_sweeps(task: SearchTask) -> Sweeps:
    """Sweeps from the best values so far, of every hyperparameter: each may come to exist."""
    return _sweeps(task, task.space.parameters, num_others=1)


def _sweeps(task: SearchTask, names: Iterable[str], *, num_others: int) -> Sweeps:
    needs = {name: _num_values(task.space.parameters[name]) for name in names}
    shares = fair_shares(needs, task.trials - num_others)
    each = (
        Sweep(name=name, values=spaced_values(task.space.parameters[name], share), num_all=need)
        for (name, need), share in zip(needs.items(), shares.values(), strict=True)
    )
    return Sweeps(each=tuple(each), num_others=num_others)


def fair_shares(needs: Mapping[str, int | None], budget: int) -> dict[str, int]:
    """Equal parts of a budget; what a part does not need goes to the others.

    Args:
        needs: name -> how much it can use; None for any amount.
        budget: what there is for all of them, in whole numbers.

    Returns:
        Name -> its part, in the order of ``needs``: at least 1, and all it needs where that is no
        more than an equal part. Parts are equal otherwise; what does not divide is left.
    """
    granted: dict[str, int] = {}
    while len(granted) < len(needs):
        waiting = {name: need for name, need in needs.items() if name not in granted}
        part = max(1, (budget - sum(granted.values())) // len(waiting))
        short = {name: n for name, n in waiting.items() if n is not None and n <= part}
        granted |= short or dict.fromkeys(waiting, part)
    return {name: granted[name] for name in needs}


def _num_values(tried: Real | Int | Choice) -> int | None:
    if isinstance(tried, Choice):
        return len(tried.values)
    step = tried.step or (1 if isinstance(tried, Int) else None)
    if step is None or tried.log:
        return None
    return round((tried.high - tried.low) / step) + 1

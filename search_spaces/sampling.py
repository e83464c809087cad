"""Draw one point of a space."""

from collections.abc import Sequence
from typing import Any, Protocol

from search_spaces.params import Choice, Int, Space, Value

__all__ = ["SuggestsValues", "suggest"]


class SuggestsValues(Protocol):
    """What an Optuna trial offers, and all that is needed of it."""

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """Draw a real number from [low, high]."""

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        """Draw a whole number from [low, high]."""

    def suggest_categorical(self, name: str, choices: Sequence[Value]) -> Any:
        """Draw one of ``choices``."""


def suggest(space: Space, trial: SuggestsValues) -> dict[str, Value]:
    """Draw every parameter of ``space``, in the order in which they are declared."""
    point: dict[str, Value] = {}
    for name, tried in space.parameters.items():
        if isinstance(tried, Choice):
            point[name] = trial.suggest_categorical(name, tried.values)
        elif isinstance(tried, Int):
            point[name] = trial.suggest_int(
                name, tried.low, tried.high, step=tried.step or 1, log=tried.log
            )
        else:
            point[name] = trial.suggest_float(
                name, tried.low, tried.high, step=tried.step, log=tried.log
            )
    return point

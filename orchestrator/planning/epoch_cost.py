"""What an epoch cost in earlier results."""

from dataclasses import dataclass

__all__ = ["EpochCost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochCost:
    """Seconds of an epoch over trials so far, evaluation included.

    Attributes:
        low: a tenth of the trials took less.
        median: half of them.
        high: a tenth of them took more.
        trials: how many there are.
    """

    low: float
    median: float
    high: float
    trials: int

"""The seam between what should run (the director) and how it is run (an executor)."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol, Self

from orchestrator.messages import Message
from orchestrator.orders import TrialJob

__all__ = ["Director", "Executor", "NoJob"]


class NoJob(Enum):
    """Why there is no job right now."""

    WAIT = "nothing to do before a running trial ends"
    FINISHED = "the study is done"


class Director(Protocol):
    """What an executor asks and tells. All calls come from one thread."""

    @property
    def is_stopping(self) -> bool:
        """Whether running trials are to be left where they are."""

    def next_job(self) -> TrialJob | NoJob:
        """A job for a free slot."""

    def hear(self, trial_id: str, messages: Sequence[Message]) -> bool:
        """Take in what a trial said; False means it is over (ended or pruned)."""

    def lose(self, trial_id: str, reason: str) -> None:
        """A worker or node died under a trial."""


class Executor(Protocol):
    """Runs the director's jobs until it is finished or stopping; started by ``with``."""

    def __enter__(self) -> Self:
        """Start whatever runs trials."""

    def __exit__(self, *_: object) -> None:
        """End it."""

    @property
    def slots(self) -> int:
        """How many trials run at a time."""

    def run(self, director: Director) -> None:
        """Return when the director is finished or stopping; no trial is left running."""

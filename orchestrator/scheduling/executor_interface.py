"""The seam between what should run (the director) and how it is run (an executor)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol, Self

from orchestrator.results.errors import PodiumError
from orchestrator.study.resource_demand import Capacity
from orchestrator.trials.trial_spec import TrialJob
from orchestrator.trials.worker_messages import Message

__all__ = ["ClusterGoneError", "Executor", "Loss", "LossCause", "NoJob", "Scheduler"]

LossCause = Literal[
    "lost_node",  # its node died or cannot be reached
    "preempted",  # its node was taken away with notice
    "lost_worker",  # its process died on a node that lives
    "killed_for_memory",  # its process was killed because the node ran out of memory
    "stuck",  # it said nothing for too long, and was killed for that
    "timeout",  # it ran for longer than the study allows, and was killed for that
]


class ClusterGoneError(PodiumError):
    """What runs trials is gone; the same command goes on from what is in the store."""

    exit_code = 3


class NoJob(Enum):
    """Why there is no job right now."""

    WAIT = "nothing to do before a running trial ends"
    FINISHED = "the study is done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Why a trial ended without a word of its own.

    Attributes:
        cause: one of these.
        message: what the executor knows of it, for people.
    """

    cause: LossCause
    message: str


class Scheduler(Protocol):
    """What an executor asks and tells. All calls come from one thread."""

    @property
    def is_stopping(self) -> bool:
        """Whether running trials are to be left where they are."""

    def next_job(self) -> TrialJob | NoJob:
        """A job for a free place."""

    def begun(self, trial_id: str) -> None:
        """Its worker has the job now: from here on its time counts, waiting in a queue does not.

        Where nobody tells, it counts from the first word of the trial.
        """

    def hear(self, trial_id: str, messages: Sequence[Message]) -> bool:
        """Take in what a trial said; False means it is over (ended or pruned)."""

    def lose(self, trial_id: str, loss: Loss) -> None:
        """A trial ended without a word of its own."""

    def overdue(self) -> Mapping[str, Loss]:
        """Trials that must be killed now. To be asked every second or so.

        Once one is dead, it is to be lost (`lose`) with the loss that is given here. It may be one
        that has not begun: no node has any more what it waits for.
        """


class Executor(Protocol):
    """Runs the director's jobs until it is finished or stopping; started by ``with``."""

    def __enter__(self) -> Self:
        """Start whatever runs trials."""

    def __exit__(self, *_: object) -> None:
        """End it."""

    def capacity(self) -> Capacity:
        """What there is for trials now; it may grow and shrink while trials run."""

    def run(self, scheduler: Scheduler) -> None:
        """Return when the director is finished or stopping; no trial is left running."""

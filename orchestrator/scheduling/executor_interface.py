"""The interface between what should run (the scheduler) and how it is run (an executor)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol, Self

from podium.errors import PodiumError
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Message

LossCause = Literal[
    "lost_node",  # its node died or cannot be reached
    "preempted",  # its node was taken away with notice
    "lost_worker",  # its process died on a node that lives
    "killed_for_memory",  # its process was killed because the node ran out of memory
    "stuck",  # it sent no message for too long, and was killed for that
    "timeout",  # it ran for longer than the study allows, and was killed for that
]


class ClusterGoneError(PodiumError):
    """The cluster is gone; the same command resumes from what is in the store."""

    exit_code = 3


class NoJob(Enum):
    """Why there is no job right now."""

    WAIT = "nothing to do before a running trial ends"
    FINISHED = "the study is done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Why a trial ended without a message of its own.

    Attributes:
        cause: what happened to its process or node.
        message: what the executor knows of it, for people.
    """

    cause: LossCause
    message: str


class Scheduler(Protocol):
    """What an executor asks of the scheduler and reports to it, always from one thread."""

    @property
    def is_stopping(self) -> bool:
        """Whether running trials are to be left where they are."""

    def next_job(self, capacity: Capacity) -> TrialJob | NoJob:
        """A job for a free worker slot of what there is now, or why there is none."""

    def trials_started(self, trial_ids: Sequence[str]) -> None:
        """A worker has their jobs now, which are those of one slot.

        From here on their time counts, waiting in a queue does not. If this is never called, time
        counts from the first message of a trial.
        """

    def receive(self, trial_id: str, messages: Sequence[Message]) -> bool:
        """Process the messages of a trial; False means it is over (ended or pruned)."""

    def trial_lost(self, trial_id: str, loss: Loss) -> None:
        """A trial ended without a message of its own."""

    def trials_to_kill(self, capacity: Capacity) -> Mapping[str, Loss]:
        """Trials that must be killed now, by id. To be called every second or so.

        Once one is dead, it is to be reported (`trial_lost`) with the loss given here. It may be
        one that has not started: no node has what it waits for any more.

        Args:
            capacity: what there is for trials now.
        """


class Executor(Protocol):
    """Runs the scheduler's jobs until it is finished or stopping; started by ``with``."""

    def __enter__(self) -> Self:
        """Start whatever runs trials."""

    def __exit__(self, *_: object) -> None:
        """End it."""

    def capacity(self) -> Capacity:
        """What there is for trials now; it may grow and shrink while trials run."""

    def run(self, scheduler: Scheduler) -> None:
        """Return when the scheduler is finished or stopping; no trial is left running."""

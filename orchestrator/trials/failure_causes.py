"""Why a trial or one attempt at it failed, by what was raised or by what was lost.

What ends a trial, and is stored in its row:

diverged      non-finite loss, gradient or embedding
collapsed     all embeddings the same: Recall@K would be meaningless
out_of_memory memory ran out although the trial had its device, or its node, to itself
input         hyperparameters or settings are unusable
error         any other exception of the training code
timeout       it took longer than the study allows
lost          worker or node died too often under it, without an epoch's progress in between
stuck         it sent no message for too long, too often, without an epoch's progress in between
device        its GPU failed too often, without an epoch's progress in between

What ends the run, and is no trial's fault:

data          data set or weights cannot be read
store         the results store cannot be written

What ends an attempt, after which the trial is retried (`orchestrator.trials.retries`): the causes
of `orchestrator.scheduling.executor_interface.LossCause`, ``out_of_memory``,
``out_of_host_memory``, ``device`` and ``data``. An attempt that was pruned or interrupted is
``stopped``.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from errno import ENOMEM

from podium.errors import StoreError
from podium.trainables.errors import Collapsed, DataError, Diverged, TrialInputError

ERROR = "error"
INPUT = "input"
DATA = "data"
DEVICE = "device"
OUT_OF_MEMORY = "out_of_memory"
OUT_OF_HOST_MEMORY = "out_of_host_memory"
STORE = "store"
LOST = "lost"
STUCK = "stuck"
TIMEOUT = "timeout"

FAILURE_CAUSES = (
    *("diverged", "collapsed", OUT_OF_MEMORY, INPUT, ERROR),
    *(TIMEOUT, LOST, STUCK, DEVICE),
)
"""Every cause that the row of a failed trial may have."""

# How torch says it without a class of its own.
_DEVICE_MEMORY_WORDS = (
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
)
_HOST_MEMORY_WORDS = ("DefaultCPUAllocator", "can't allocate memory")
_DEVICE_WORDS = ("CUDA error", "cuDNN error", "CUBLAS_STATUS_", "NCCL error")


def cause_of(error: BaseException) -> str:
    """The cause of a failed attempt, by the exception that ended it."""
    if isinstance(error, Diverged):
        return "diverged"
    if isinstance(error, Collapsed):
        return "collapsed"
    if isinstance(error, StoreError):
        return STORE
    if any(isinstance(link, OSError) and link.errno == ENOMEM for link in _chain(error)):
        return OUT_OF_HOST_MEMORY
    if isinstance(error, DataError) or any(isinstance(link, OSError) for link in _chain(error)):
        return DATA
    if isinstance(error, TrialInputError):
        return INPUT
    return _machine_cause(error) or ERROR


def _machine_cause(error: BaseException) -> str | None:
    """The cause if a machine is too small or faulty, by what torch and Python raise there."""
    if isinstance(error, MemoryError):
        return OUT_OF_HOST_MEMORY
    # torch.OutOfMemoryError is a RuntimeError; known by name so that torch is not imported here.
    if any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
        return OUT_OF_MEMORY
    if not isinstance(error, RuntimeError):
        return None
    text = str(error)
    if all(words in text for words in _HOST_MEMORY_WORDS):
        return OUT_OF_HOST_MEMORY
    if any(words in text for words in _DEVICE_MEMORY_WORDS):
        return OUT_OF_MEMORY
    return DEVICE if any(words in text for words in _DEVICE_WORDS) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, as far as its raiser does not hide that."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


@dataclass(slots=True)
class FailureTally:
    """Counts failures and retried attempts of a run by cause, for display while it lasts."""

    _first: dict[str, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    _retries: Counter[str] = field(default_factory=Counter)

    def add(self, cause: str, message: str) -> None:
        """Count a failure; of several of one cause, the first message is shown."""
        self._first.setdefault(cause, message)
        self._counts[cause] += 1

    def add_retry(self, cause: str) -> None:
        """Count an attempt that is retried."""
        self._retries[cause] += 1

    def lines(self) -> tuple[str, ...]:
        """``diverged: the loss is nan (and 3 more)``, a line for each cause."""
        return tuple(
            f"{cause}: {message}" + (f" (and {count - 1} more)" if count > 1 else "")
            for cause, message in tuple(self._first.items())
            if (count := self._counts[cause])
        )

    def retries(self) -> str | None:
        """``3 (lost_node 2, stuck 1)``; None if nothing was retried."""
        counts = self._retries.copy()
        return f"{counts.total()} ({counts_text(counts)})" if counts else None


def counts_text(counts: Counter[str]) -> str:
    """``error 2, timeout 1``, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{cause} {count}" for cause, count in ordered)

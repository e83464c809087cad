"""Why a trial failed, told apart by what was raised.

diverged      non-finite loss, gradient or embedding
collapsed     all embeddings the same: Recall@K would be meaningless
out_of_memory host or device memory ran out
input         data set, weights, hyperparameters or settings are unusable
store         the results store cannot be written: not the trial's fault, the run stops
lost          worker or node died too often under this trial
error         any other exception of the training code
"""

from dataclasses import dataclass, field

from orchestrator.results.errors import StoreError
from trainables.errors import Collapsed, Diverged, TrialInputError

__all__ = [
    "ERROR",
    "INPUT",
    "LOST",
    "MAX_LOSSES",
    "OUT_OF_MEMORY",
    "STORE",
    "FailureTally",
    "cause_of",
]

ERROR = "error"
INPUT = "input"
OUT_OF_MEMORY = "out_of_memory"
STORE = "store"
LOST = "lost"

# A lost worker is not the trial's failure, but a trial that takes its worker down every time is.
MAX_LOSSES = 3


def cause_of(error: BaseException) -> str:
    """The cause named for an exception that ended a trial."""
    if isinstance(error, Diverged):
        return "diverged"
    if isinstance(error, Collapsed):
        return "collapsed"
    if isinstance(error, TrialInputError):
        return INPUT
    if isinstance(error, StoreError):
        return STORE
    # torch.OutOfMemoryError is a RuntimeError; known by name so that torch is not imported here.
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return OUT_OF_MEMORY
    return ERROR


@dataclass(slots=True)
class FailureTally:
    """What failed in a run by cause, told while it lasts."""

    _first: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, cause: str, message: str) -> None:
        """Count one more; the first of a cause speaks for the others."""
        self._counts[cause] = self._counts.get(cause, 0) + 1
        self._first.setdefault(cause, message)

    def lines(self) -> tuple[str, ...]:
        """``diverged: the loss is nan (and 3 more)``, a line for each cause."""
        return tuple(
            f"{cause}: {message}" + (f" (and {count - 1} more)" if count > 1 else "")
            for (cause, message), count in zip(
                tuple(self._first.items()), tuple(self._counts.values()), strict=False
            )
        )

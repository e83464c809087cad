"""Why a trial failed, told apart by what was raised.

diverged      non-finite loss, gradient or embedding
collapsed     all embeddings the same: Recall@K would be meaningless
out_of_memory host or device memory ran out
input         data set, hyperparameters or settings are unusable
store         the results store cannot be written: not the trial's fault, the run stops
lost          worker or node died too often under this trial
error         any other exception of the training code
"""

from orchestrator.results.errors import StoreError
from trainables.errors import Collapsed, Diverged, TrialInputError

__all__ = ["LOST", "MAX_LOSSES", "STORE", "cause_of"]

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
        return "input"
    if isinstance(error, StoreError):
        return STORE
    # torch.OutOfMemoryError is a RuntimeError; known by name so that torch is not imported here.
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "out_of_memory"
    return "error"

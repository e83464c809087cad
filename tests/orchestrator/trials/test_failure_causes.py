"""The cause of a failed attempt follows from what was raised."""

import pytest

from podium.errors import StoreError
from podium.orchestrator.trials.failure_causes import FailureTally, cause_of
from podium.trainables.errors import Collapsed, DataError, Diverged, TrialInputError


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


class AcceleratorError(RuntimeError):
    """As torch names it."""


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Diverged("the loss is nan", 0, 1), "diverged"),
        (Collapsed("all embeddings coincide", 0, 1), "collapsed"),
        (OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), "out_of_memory"),
        (AcceleratorError("CUDA error: out of memory"), "out_of_memory"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), "out_of_memory"),
        (MemoryError(), "out_of_host_memory"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
            "out_of_host_memory",
        ),
        (AcceleratorError("CUDA error: an illegal memory access was encountered"), "device"),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), "device"),
        (TrialInputError("margin must be small"), "input"),
        (DataError("class 7 has no images"), "data"),
        (OSError(5, "Input/output error"), "data"),
        (OSError(12, "Cannot allocate memory"), "out_of_host_memory"),
        (StoreError("No space left on device"), "store"),
        (RuntimeError("shapes differ"), "error"),
        (KeyError("CUDA error"), "error"),
    ],
)
def test_each_error_has_its_cause(error, cause):
    assert cause_of(error) == cause


def caused_by(error, reason, *, hides=False):
    """The error as it is caught where a handler of the reason raised it."""

    def handle():
        try:
            raise reason
        except type(reason) as found:
            raise error from None if hides else found

    with pytest.raises(type(error)) as caught:
        handle()
    return caught.value


@pytest.mark.parametrize("raised", [TrialInputError("a.jpg is broken"), RuntimeError("no batch")])
def test_what_came_of_an_unreadable_file_is_the_fault_of_no_config(raised):
    assert cause_of(caused_by(raised, OSError(116, "Stale file handle"))) == "data"


@pytest.mark.parametrize("raised", [DataError("a.jpg is broken"), RuntimeError("no batch")])
def test_what_came_of_a_file_for_which_no_memory_was_left_is_no_fault_of_the_data(raised):
    error = caused_by(raised, OSError(12, "Cannot allocate memory"))
    assert cause_of(error) == "out_of_host_memory"


def test_an_os_error_that_its_handler_hides_is_not_the_reason():
    error = caused_by(RuntimeError("shapes differ"), FileNotFoundError("no cache"), hides=True)
    assert cause_of(error) == "error"


def test_a_store_that_fails_is_reported_as_that_whatever_failed_below():
    error = caused_by(StoreError("cannot write"), OSError(28, "No space left on device"))
    assert cause_of(error) == "store"


def test_repetitions_are_reported_by_cause_the_most_frequent_first():
    tally = FailureTally()
    assert tally.retries() is None
    for cause in ("stuck", "lost_node", "lost_node", "preempted"):
        tally.add_retry(cause)
    assert tally.retries() == "4 (lost_node 2, preempted 1, stuck 1)"
    assert tally.lines() == ()

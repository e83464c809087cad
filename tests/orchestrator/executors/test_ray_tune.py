import signal

import pytest
from ray.tune.tune import _setup_signal_catching

from orchestrator.executors.ray_tune import KeepSignalHandler


@pytest.fixture
def ours():
    before = signal.getsignal(signal.SIGUSR1)

    def handler(number, frame):
        """Stands for that of the run command."""

    signal.signal(signal.SIGUSR1, handler)
    yield handler
    signal.signal(signal.SIGUSR1, before)


def test_the_warning_of_a_batch_system_reaches_the_run_and_not_tune(ours):
    callback = KeepSignalHandler()
    _setup_signal_catching()  # what Tune does at the start of a run
    assert signal.getsignal(signal.SIGUSR1) is not ours
    callback.setup(stop=None, num_samples=-1)
    assert signal.getsignal(signal.SIGUSR1) is ours

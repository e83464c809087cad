"""What Ray Tune is kept from doing with signals, and with trials that are over."""

import signal

import pytest
import ray
from ray.exceptions import OutOfMemoryError
from ray.tune.experiment import Trial
from ray.tune.tune import _setup_signal_catching

from podium.orchestrator.executors.tune_callbacks import BridgeCallback


@pytest.fixture
def ours():
    before = signal.getsignal(signal.SIGUSR1)

    def handler(number, frame):
        """Stands for that of the run command."""

    signal.signal(signal.SIGUSR1, handler)
    yield handler
    signal.signal(signal.SIGUSR1, before)


def test_the_warning_of_a_batch_system_reaches_the_run_and_not_tune(ours):
    callback = BridgeCallback(bridge=None)
    _setup_signal_catching()  # what Tune does at the start of a run
    assert signal.getsignal(signal.SIGUSR1) is not ours
    callback.setup(stop=None, num_samples=-1)
    assert signal.getsignal(signal.SIGUSR1) is ours


def test_nothing_is_asked_of_a_worker_that_was_killed_for_memory(monkeypatch):
    """Tune reports failed trials with their last result, and fetches one where there is none."""

    def get(asked):
        raise OutOfMemoryError("killed")

    trial = Trial("x", stub=True)
    trial._default_result_or_future = ray.ObjectRef(b"0" * 28)
    monkeypatch.setattr(ray, "get", get)
    with pytest.raises(OutOfMemoryError):
        _ = trial.last_result
    BridgeCallback(bridge=None).on_trial_error(iteration=0, trials=[], trial=trial)
    assert trial.last_result == {"trial_id": trial.trial_id}

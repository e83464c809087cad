"""What Ray Tune is kept from doing with signals, and with trials that are over."""

import signal

import pytest
import ray
from ray.exceptions import OutOfMemoryError
from ray.tune.experiment import Trial
from ray.tune.tune import _setup_signal_catching

from podium.errors import FolderGoneError
from podium.orchestrator.executors.tune_bridge import TuneBridge
from podium.orchestrator.executors.tune_callbacks import BridgeCallback
from tests.orchestrator.executors.test_tune_bridge import JOB


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


def test_an_error_where_a_trial_starts_ends_the_run_as_itself():
    """Tune would wrap it, and the user would see a traceback."""

    class Scheduler:
        def next_job(self, capacity):
            return JOB

        def trials_to_kill(self, capacity):
            return {}

        def trials_started(self, trial_ids):
            raise FolderGoneError("x is gone")

    bridge = TuneBridge(Scheduler(), watch=None, capacity=lambda: None)
    bridge.suggest("tune")
    trial = Trial("x", stub=True, trial_id="tune")
    BridgeCallback(bridge).on_trial_start(iteration=0, trials=[], trial=trial)
    assert isinstance(bridge.error, FolderGoneError)


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

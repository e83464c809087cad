"""What Ray Tune is kept from doing with trials that are over."""

import pytest
import ray
from ray.exceptions import OutOfMemoryError
from ray.tune.experiment import Trial

from orchestrator.executors.tune_callbacks import BridgeCallback


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

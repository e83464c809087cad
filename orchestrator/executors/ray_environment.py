"""Which Ray it must be, and what that reads from the environment when it is imported."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from podium.errors import PodiumError

# Tune has no public way to survive the loss of a worker to memory or with its node, nor to choose
# which trial gets a process. So this room reaches into Ray's inside, which may change with each
# minor version. The range in pyproject.toml is the same; `make test-ray-range` tries its oldest.
OLDEST_RAY, NEWEST_RAY = (2, 55), (2, 60)

_SETTINGS = {
    # Ray without a token runs the code of anyone who reaches its ports.
    "RAY_AUTH_MODE": "token",
    # A trial that was given no GPU must not see one.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    # The new output prints a box even at verbose=0.
    "RAY_AIR_NEW_OUTPUT": "0",
    # The auto loggers write five files a trial and load torch into the driver.
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    # Snapshots of the experiment cost O(n^2), and are never read.
    "TUNE_GLOBAL_CHECKPOINT_S": "100000",
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
    # Else Tune itself restarts what a preempted node ran, and the scheduler never knows.
    "RAY_TRAIN_COUNT_PREEMPTION_AS_FAILURE": "1",
    # Each of these asks the head, and waits for ever if it is gone; podium knows the nodes.
    "TUNE_STATE_REFRESH_PERIOD": "1e9",
    "TUNE_WARN_INSUFFICENT_RESOURCE_THRESHOLD_S": "1e9",
    "TUNE_WARN_INSUFFICENT_RESOURCE_THRESHOLD_S_AUTOSCALER": "1e9",
    # Of clusters started from here: a silent node is given up after 35 seconds, not 65.
    "RAY_health_check_period_ms": "2000",
    "RAY_health_check_timeout_ms": "5000",
    # A process that ignores its end keeps its worker slot for one second more, not five.
    "RAY_kill_worker_timeout_milliseconds": "1000",
    # The run command handles Ctrl-C itself.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
}


def refuse_other_versions() -> None:
    """Refuse a Ray that was not tested; call it before anything imports Ray.

    Raises:
        PodiumError: naming the version that is installed and those that were tested.
    """
    found = metadata.version("ray")
    if not OLDEST_RAY <= tuple(map(int, found.split(".")[:2])) <= NEWEST_RAY:
        oldest, newest = (".".join(map(str, it)) for it in (OLDEST_RAY, NEWEST_RAY))
        raise PodiumError(
            f"podium is tested with Ray {oldest} to {newest} and uses its internals, which another"
            f" version may have changed; Ray {found} is installed. Install 'ray[tune]=={newest}.*'"
        )


@contextmanager
def replaced(owner: Any, **values: object) -> Iterator[None]:
    """Within the block these attributes of a part of Ray, which has no option for them, differ."""
    before = {name: getattr(owner, name) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


# Up to Ray 2.57 it warns that a setting will be as it is set below.
warnings.filterwarnings("ignore", "Tip: In future versions of Ray", FutureWarning)
for _name, _value in _SETTINGS.items():
    os.environ.setdefault(_name, _value)

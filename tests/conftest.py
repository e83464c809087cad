import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import orchestrator.executors.ray_environment  # noqa: F401 - before any test imports Ray
from tests.object_store import (
    azure_container,
    azurite,
    bucket,
    google_bucket,
    memory_bucket,
    s3_service,
)

__all__ = [
    "azure_container",
    "azurite",
    "bucket",
    "google_bucket",
    "memory_bucket",
    "s3_service",
]

# Ray makes its workers yield to all else: they would all but stand still beside the other tests.
os.environ.update(RAY_worker_niceness="0")

# Stores are written and flushed by the thousand; in memory, where there is room, none waits for a
# disk.
_MEMORY, _ENOUGH_BYTES = Path("/dev/shm"), 4 * 2**30
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# How long an example takes says how busy the machine is.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items):
    """Tests that need a GPU are skipped where there is none."""
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not on_gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))

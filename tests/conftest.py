import ctypes
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import podium.orchestrator.executors.ray_environment  # noqa: F401 - before any test imports Ray
from tests.browser import chromium
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
    "chromium",
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
_QUIET = [HealthCheck.too_slow]
settings.register_profile("few", deadline=None, suppress_health_check=_QUIET, max_examples=40)
settings.load_profile("few")


@pytest.fixture(scope="module", autouse=True)
def _memory_is_given_back():
    """What a file let go of in small pieces would stay with the process, file after file."""
    yield
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if give_back is not None:
        give_back(0)


@pytest.hookimpl(tryfirst=True)  # while those are there that are not asked for
def pytest_collection_modifyitems(items):
    _assert_make_finds_ray(items)
    _skip_without_gpu(items)


def _assert_make_finds_ray(items):
    """`make test-clusters` looks for tests that start Ray where the marker is written."""
    files = {item.path for item in items if item.get_closest_marker("ray")}
    hidden = [str(file) for file in files if "mark.ray" not in file.read_text(encoding="utf-8")]
    if hidden:
        raise pytest.UsageError(f"mark tests that start Ray in their own file: {hidden}")


def _skip_without_gpu(items):
    """Tests that need a GPU are skipped where there is none."""
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not on_gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))

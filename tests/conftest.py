import os

import pytest

import orchestrator.executors.ray_environment  # noqa: F401 - before any test imports Ray
from tests.object_store import bucket, s3_service

__all__ = ["bucket", "s3_service"]

# Ray makes its workers yield to all else: they would all but stand still beside the other tests.
os.environ.update(RAY_worker_niceness="0")


def pytest_collection_modifyitems(items):
    """Tests that need a GPU are skipped where there is none."""
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not on_gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))

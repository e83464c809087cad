import pytest

import orchestrator.executors.ray_environment  # noqa: F401 - before any test imports Ray
from tests.object_store import bucket, s3_service

__all__ = ["bucket", "s3_service"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_process_of(item)))
    _skip_where_there_is_no_gpu(items)


def _process_of(item):
    """Tests of one file run in one process, which shares what they set up.

    So do all that start Ray clusters: several at once would starve each other.
    """
    return "ray" if item.get_closest_marker("ray") else str(item.path)


def _skip_where_there_is_no_gpu(items):
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not on_gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))

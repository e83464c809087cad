"""A study that was run to its end, and copies of it to list and damage."""

import shutil
from dataclasses import replace

import pytest

from podium.orchestrator.results.storage.files import put
from tests.orchestrator.small_study import run_here, with_search

SMALLEST = replace(with_search(trials=2), embedding_dims=(8,))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results folder of a complete study, which nothing may change."""
    storage = tmp_path_factory.mktemp("finished")
    run_here(SMALLEST, storage)
    return storage / SMALLEST.name


@pytest.fixture
def study(finished, tmp_path):
    """A copy in a storage folder of its own."""
    return shutil.copytree(finished, tmp_path / "results" / finished.name)


@pytest.fixture
def remote_study(finished, bucket):
    """A copy in a bucket."""
    return uploaded(finished, bucket / "results" / finished.name)


def uploaded(folder, place):
    for file in folder.rglob("*"):
        if file.is_file():
            put(place / file.relative_to(folder).as_posix(), file.read_bytes())
    return place

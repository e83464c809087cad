"""Results folders that several tests look at, and none of them changes."""

import pytest

from tests.orchestrator.damaged_stores import KEEPING, finished_store, interrupted_store
from tests.orchestrator.scripted import undisturbed_tables


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    return interrupted_store(tmp_path_factory.mktemp("interrupted"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_store(tmp_path_factory.mktemp("finished"), KEEPING)


@pytest.fixture(scope="module")
def undisturbed_tiny(tmp_path_factory):
    """The tables of the study TINY, run without any loss."""
    return undisturbed_tables(tmp_path_factory.mktemp("undisturbed"))

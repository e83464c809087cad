"""A finished study of simulated trials, for commands that change nothing of it."""

import pytest

from tests.orchestrator.small_study import STUDY, run_here


@pytest.fixture(scope="session")
def finished_study(tmp_path_factory):
    """Its results folder."""
    storage = tmp_path_factory.mktemp("finished")
    run_here(STUDY, storage)
    return storage / STUDY.name

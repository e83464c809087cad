"""Studies that were really trained, for commands on their trials."""

import pytest

from tests.podium.kept_studies import run_kept_studies


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    """Storage folder of the three studies of `run_kept_studies`."""
    folder = tmp_path_factory.mktemp("storage")
    run_kept_studies(folder)
    return folder


@pytest.fixture
def here(storage):
    """Options that choose the study that keeps everything."""
    return ("--study", storage / "tiny")

"""Places of results and quick retries that several tests of the results store use."""

import pytest

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage import transient_errors


@pytest.fixture
def paths(tmp_path):
    """Paths of a results folder on this machine that is not there yet."""
    return StudyPaths(tmp_path / "study")


@pytest.fixture
def short_pauses(monkeypatch):
    """Retries follow each other within milliseconds."""
    monkeypatch.setattr(transient_errors, "_FIRST_PAUSE_SECONDS", 0.001)

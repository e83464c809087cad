"""Stores that several report tests read."""

import pytest

from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth


@pytest.fixture(scope="session")
def synthetic_store(tmp_path_factory):
    """8 blocks x 3 losses; proxy_anchor is best everywhere. Nobody may change it."""
    return write_store(tmp_path_factory.mktemp("store") / "synthetic", Truth())

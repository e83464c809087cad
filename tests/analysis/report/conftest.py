"""A page that several tests of the report read."""

import pytest

from analysis.report.report import table_page
from tests.analysis import thesis_cub200


@pytest.fixture(scope="session")
def thesis_page():
    """The report of the published table of the thesis."""
    return table_page(thesis_cub200.score_table(), title="t", source="s")

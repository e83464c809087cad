"""A page that several tests of the report read."""

import pytest

from tests.analysis import thesis_cub200
from tests.analysis.page_text import table_page


@pytest.fixture(scope="session")
def thesis_page():
    """The report of the published table of the thesis."""
    return table_page(thesis_cub200.score_table(), title="t", source="s")

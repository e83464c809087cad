"""Stores that several report tests read."""

import pytest

from podium.analysis.page.html_page import render_page
from podium.analysis.report.report import study_report
from podium.analysis.study_results.study_results import read_results
from tests.analysis import thesis_cub200
from tests.analysis.page_text import table_page
from tests.analysis.protocol_store import CROSSED, SEED, write_protocol_store
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import SMALL, Truth


@pytest.fixture(scope="session")
def synthetic_store(tmp_path_factory):
    """8 blocks x 3 losses; proxy_anchor is best everywhere. No test may change it."""
    return write_store(tmp_path_factory.mktemp("store") / "synthetic", Truth())


@pytest.fixture(scope="session")
def small_store(tmp_path_factory):
    """2 blocks x 3 losses. No test may change it."""
    return write_store(tmp_path_factory.mktemp("store") / "small", SMALL)


@pytest.fixture(scope="session")
def synthetic_results(synthetic_store):
    return read_results(synthetic_store)


@pytest.fixture(scope="session")
def synthetic_report(synthetic_results):
    return study_report(synthetic_results)


@pytest.fixture(scope="session")
def synthetic_page(synthetic_report):
    return render_page(synthetic_report)


@pytest.fixture(scope="session")
def crossed_store(tmp_path_factory):
    """A study that crosses three protocols. No test may change it."""
    return write_protocol_store(tmp_path_factory.mktemp("store") / "crossed", CROSSED, SEED)


@pytest.fixture(scope="session")
def crossed_results(crossed_store):
    return read_results(crossed_store)


@pytest.fixture(scope="session")
def crossed_report(crossed_results):
    return study_report(crossed_results)


@pytest.fixture(scope="session")
def addresses(synthetic_page, tmp_path_factory):
    """Report pages of each kind, to be opened in a browser."""
    folder = tmp_path_factory.mktemp("pages")
    table = thesis_cub200.score_table()
    pages = {
        "study": synthetic_page,
        "table": table_page(table, title="CUB200-2011", source="the thesis"),
    }
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}

"""NMI and F1 are seen, sorted and downloaded on the page, in a real browser."""

import csv
import io

import pytest

from analysis.page.html_page import render_page
from analysis.page.table_files import csv_files
from analysis.report.report import study_report
from analysis.study_results.study_results import read_results
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.browser import LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser
TRUTH = Truth(
    scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, has_without_k=True
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    store = write_store(tmp_path_factory.mktemp("store") / "s", TRUTH)
    groups = {"pairs": ("contrastive", "multi_similarity"), "proxies": ("proxy_anchor",)}
    return study_report(read_results(store, score="nmi", groups=groups))


@pytest.fixture(scope="module")
def address(page, tmp_path_factory):
    file = tmp_path_factory.mktemp("pages") / "nmi.html"
    file.write_text(render_page(page), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_nmi_and_f1_are_seen_on_the_page_with_its_folds_open(chromium, address, size):
    visit = Visit(chromium, address, size)
    visit.open_all()
    heads = visit.page.locator("#without-k-0 thead tr:last-child th")
    shown = [head.inner_text().strip() for head in heads.all() if head.is_visible()]
    assert shown == ["Loss", "R-precision", "MAP@R", "NMI", "F1"]
    assert "Mean NMI" in visit.page.locator("#leaderboard thead").inner_text()
    assert visit.page.locator("#leaderboard tbody tr:first-child th").inner_text().strip() == (
        "contrastive"
    )
    assert "points of NMI above the next" in visit.page.locator("#summary").inner_text()
    assert visit.page.locator("#nmi-0").is_visible()
    assert visit.page.locator("#loss-groups-table").is_visible()
    assert "pairs minus proxies" in visit.page.locator("#loss-groups").inner_text()
    assert visit.complaints == []


def test_f1_is_sorted_and_comes_down_with_all_digits(chromium, address, page):
    visit = Visit(chromium, address, LAPTOP, accept_downloads=True)
    visit.open_all()
    head = visit.page.locator("#without-k-0 thead tr:last-child th").nth(4)
    head.get_by_role("button").click()
    sorted_by = head.get_attribute("aria-sort")
    names = [
        row.locator("th").inner_text().strip()
        for row in visit.page.locator("#without-k-0 tbody tr").all()
    ]
    rising = ["untrained", "contrastive", "multi_similarity", "proxy_anchor"]
    assert names == (rising if sorted_by == "ascending" else rising[::-1])

    tools = visit.page.locator(".tools:has(+ .scroll > #without-k-0)")
    with visit.page.expect_download() as waiting:
        tools.get_by_role("button", name="Save").click()
        visit.page.get_by_role("button", name="Download CSV").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    assert text == csv_files(page)["without-k-0.csv"]
    first = next(csv.DictReader(io.StringIO(text)))
    assert 0 < float(first["16 dimensions F1"]) < 100 > float(first["16 dimensions NMI"]) > 0

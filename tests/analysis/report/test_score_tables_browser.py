"""Tables whose columns stand in groups are sorted by the lower heads, in a real browser."""

import pytest

from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser


def test_pressing_a_dimension_sorts_by_it_under_its_own_backbone(chromium, addresses):
    visit = Visit(chromium, addresses["table"], LAPTOP)
    visit.open_all()
    page = visit.page
    heads = page.locator("#scores-0 thead tr:last-child th")
    assert page.locator("#scores-0 thead tr:first-child button").count() == 0

    head = heads.nth(6)  # GoogLeNet, 128
    assert head.inner_text().strip() == "128"
    head.get_by_role("button").click()
    first = page.locator("#scores-0 tbody tr:first-child")
    assert first.locator("th").inner_text().strip() == "ProxyAnchor"
    assert head.get_attribute("aria-sort") == "descending"

    head.get_by_role("button").click()
    assert first.locator("th").inner_text().strip() == "NPair"
    assert first.locator("td").nth(5).inner_text().strip() == "50.30"

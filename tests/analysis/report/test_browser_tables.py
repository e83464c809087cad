"""Tables of the page are filtered and sorted in a real browser."""

import re

import pytest

from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser
TABLE = "tuning-blocks"


@pytest.fixture(scope="module")
def visit(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP)
    visit.open_all()
    return visit


def tools_of(visit, table):
    return visit.page.locator(f".tools:has(+ .scroll > #{table})")


def shown_rows(visit, table):
    rows = visit.page.locator(f"#{table} tbody tr").all()
    return [row.inner_text() for row in rows if row.is_visible()]


def test_typing_keeps_the_rows_with_that_text_and_says_how_many(visit):
    tools = tools_of(visit, TABLE)
    box = tools.get_by_label("Filter rows")
    assert tools.get_by_role("status").inner_text() == "24 of 24 rows"
    box.focus()
    visit.page.keyboard.type("ProXy")

    assert tools.get_by_role("status").inner_text() == "8 of 24 rows"
    shown = shown_rows(visit, TABLE)
    assert len(shown) == 8
    assert all("proxy_anchor" in row for row in shown)

    visit.page.locator(f"#{TABLE} thead button", has_text="Tuned, test").click()
    assert len(shown_rows(visit, TABLE)) == 8  # sorting does not bring rows back

    box.fill("")
    assert len(shown_rows(visit, TABLE)) == 24


def test_any_cell_is_searched_and_nothing_found_is_said(visit):
    tools = tools_of(visit, TABLE)
    tools.get_by_label("Filter rows").fill("latin")
    assert tools.get_by_role("status").inner_text() == "6 of 24 rows"
    tools.get_by_label("Filter rows").fill("nowhere")
    assert tools.get_by_role("status").inner_text() == "0 of 24 rows"
    tools.get_by_label("Filter rows").fill("")


def test_what_is_best_comes_first_when_a_head_is_pressed(visit):
    def first_after_pressing(label):
        visit.page.locator("#leaderboard thead button", has_text=re.compile(f"^{label}")).click()
        return visit.page.locator("#leaderboard tbody tr:first-child th").inner_text().strip()

    best = first_after_pressing("Rank")
    assert first_after_pressing("Mean Recall") == best
    assert first_after_pressing("Mean Recall") != best
    assert first_after_pressing("Average rank") == best
    assert first_after_pressing("Competitor") == min(
        visit.page.locator("#leaderboard tbody th").all_inner_texts()
    )


def test_short_tables_have_no_filter(visit):
    assert tools_of(visit, "leaderboard").get_by_label("Filter rows").count() == 0


def test_without_script_the_page_is_complete(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP, java_script_enabled=False)

    assert visit.page.locator(f"#{TABLE} tbody tr").count() == 24
    assert visit.page.get_by_role("button", name="Save").count() == 0
    assert (
        "proxy_anchor is first in all 8 settings"
        in visit.page.locator(".verdict-text").inner_text()
    )


def test_paper_has_what_is_open(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP)
    folded = visit.page.pdf()
    visit.open_all()
    opened = visit.page.pdf()

    assert folded.startswith(b"%PDF-")
    assert len(opened) > 2 * len(folded)


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

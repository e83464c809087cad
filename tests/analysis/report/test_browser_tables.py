"""Tables of the page are filtered, sorted and downloaded in a real browser."""

import pytest

from analysis.page.table_files import csv_table, tables_of
from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser
TABLE = "tuning-blocks"


@pytest.fixture(scope="module")
def visit(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP, accept_downloads=True)
    visit.open_all()
    return visit


@pytest.fixture(scope="module")
def tables(synthetic_report):
    return {table.name: table for table in tables_of(synthetic_report)}


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


def test_short_tables_have_no_filter(visit):
    assert tools_of(visit, "leaderboard").get_by_label("Filter rows").count() == 0


def test_a_table_comes_down_with_the_bytes_that_the_command_writes(visit, tables):
    # Sorted and filtered before: the file is of the table as it was written.
    visit.page.locator(f"#{TABLE} thead button", has_text="Tuned, test").click()
    tools = tools_of(visit, TABLE)
    tools.get_by_label("Filter rows").fill("proxy")
    with visit.page.expect_download() as waiting:
        tools.get_by_role("button", name="CSV").click()
    download = waiting.value

    assert download.suggested_filename == f"{TABLE}.csv"
    assert download.path().read_bytes() == csv_table(tables[TABLE]).encode()
    assert visit.complaints == []


def test_every_table_of_the_page_makes_that_csv(visit, tables):
    visit.page.reload()
    made = visit.run(
        """() => Object.fromEntries(
          [...document.querySelectorAll(".scroll > table[id]")].map((table) => [
            table.id,
            csvOf([...[...table.tHead.rows].at(-1).cells], [...table.tBodies[0].rows]),
          ]))"""
    )

    assert made == {name: csv_table(table) for name, table in tables.items()}


def test_without_script_the_page_is_complete(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP, java_script_enabled=False)

    assert visit.page.locator(f"#{TABLE} tbody tr").count() == 24
    assert visit.page.locator(".tools").count() == 0
    assert "proxy_anchor leads 3" in visit.page.locator("#answer .lead").inner_text()


def test_it_prints_with_all_that_was_folded(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP)
    folded = len(visit.page.pdf())
    visit.run("dispatchEvent(new Event('beforeprint'))")

    assert visit.run("[...document.querySelectorAll('details')].every((d) => d.open)")
    assert visit.page.pdf()[:5] == b"%PDF-"
    assert folded > 10_000

"""Tables saved in a real browser have the bytes that the command writes."""

import pytest

from podium.analysis.page.html_page import Page, Section, render_page
from podium.analysis.page.table_files import csv_files, latex_files
from podium.analysis.page.tables import Cell, Column, Table, table
from tests.browser import LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser

EVIL = (
    'a_b %c &d #e {f} ~g ^h \\i $j <k> |l| [m] *n* `o` "p", --no ---x ± − – χ² é'
    "\N{NO-BREAK SPACE}½ → 字"
)

SAVED = """async (format) => {
  const found = {};
  const make = URL.createObjectURL;
  let blob = null;
  URL.createObjectURL = (it) => { blob = it; return make.call(URL, it); };
  for (const button of document.querySelectorAll(".tools > button[aria-haspopup]")) {
    button.click();
    const menu = button.nextElementSibling;
    menu.querySelector(`button[aria-label="Download ${format}"]`).click();
    const { id } = button.closest(".tools").nextElementSibling.querySelector("table");
    found[id] = await blob.text();
  }
  URL.createObjectURL = make;
  return found;
}"""


def odd_tables():
    """A table with all that LaTeX and CSV treat in a way of their own, and a long and wide one."""
    odd = Table(
        name="odd",
        caption=f"Odd: {EVIL}",
        columns=(
            Column(label="Loss | name", is_number=False),
            Column(label="a", group="first group"),
            Column(label="a", group="first group"),
            Column(label="x"),
            Column(label="a", group="second, group"),
            Column(label="remark", is_number=False),
        ),
        rows=(
            (
                Cell(text=EVIL, detail="below & it"),
                Cell(text="1.00", order=1.0049, detail="± 0.5", is_best=True),
                Cell(text="−1,234.5", order=-1234.5),
                Cell(text="< 0.001", order=1e-08),
                Cell(text="3.2 h", order=11520.0),
                Cell(text="a remark of more than forty characters, set as a paragraph"),
            ),
            (
                Cell(text="_edge_"),
                Cell(text="2.00", order=2.0),
                Cell(text="–"),
                Cell(text="45 %", order=0.45),
                Cell(text="", order=None),
                Cell(text="", is_best=True),
            ),
        ),
        note=f"Note: {EVIL}",
    )
    long = table(
        range(45),
        (
            Column.text("name", "row {}".format),
            *(Column.number(f"column {j}", lambda i, j=j: i * j / 7) for j in range(12)),
        ),
        name="long",
        caption="Long and wide",
    )
    return odd, long


@pytest.fixture(scope="module")
def odd_page():
    return Page(
        title="t", subtitle="s", sections=(Section(name="s", title="S", parts=odd_tables()),)
    )


@pytest.fixture
def odd_visit(chromium, odd_page, tmp_path):
    (tmp_path / "odd.html").write_text(render_page(odd_page), encoding="utf-8")
    visit = Visit(chromium, (tmp_path / "odd.html").as_uri(), LAPTOP, accept_downloads=True)
    yield visit
    visit.context.close()


def files(written, ending):
    return {
        name.removesuffix(ending): text for name, text in written.items() if "index" not in name
    }


def test_every_table_of_a_report_is_saved_as_the_command_writes_it(
    chromium, addresses, synthetic_report
):
    visit = Visit(chromium, addresses["study"], LAPTOP)

    assert visit.page.evaluate(SAVED, "CSV") == files(csv_files(synthetic_report), ".csv")
    assert visit.page.evaluate(SAVED, "LaTeX") == files(latex_files(synthetic_report), ".tex")
    assert visit.complaints == []


def test_odd_long_and_wide_tables_too(odd_visit, odd_page):
    assert odd_visit.page.evaluate(SAVED, "CSV") == files(csv_files(odd_page), ".csv")
    assert odd_visit.page.evaluate(SAVED, "LaTeX") == files(latex_files(odd_page), ".tex")


def test_a_table_comes_down_as_it_was_written_however_it_is_sorted(odd_visit, odd_page):
    page = odd_visit.page
    page.locator("#long thead button", has_text="column 3").click()
    page.locator(".tools:has(+ .scroll > #long)").get_by_label("Filter rows").fill("row 7")
    page.locator(".tools:has(+ .scroll > #long)").get_by_role("button", name="Save").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()

    assert waiting.value.suggested_filename == "long.csv"
    assert waiting.value.path().read_bytes() == csv_files(odd_page)["long.csv"].encode()
    assert odd_visit.complaints == []


def test_the_menu_is_opened_walked_and_closed_by_keys(odd_visit):
    page = odd_visit.page
    opener = page.get_by_role("button", name="Save the table: Long and wide")
    opener.focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("dialog", name="Save the table")
    assert menu.is_visible()
    focused = "document.activeElement.getAttribute('aria-label')"
    walked = []
    for _ in range(4):
        walked.append(odd_visit.run(focused))
        page.keyboard.press("Tab")

    formats = ("CSV", "LaTeX")
    assert walked == [f"{act} {name}" for name in formats for act in ("Copy", "Download")]
    menu.get_by_role("button", name="Copy CSV").focus()
    page.keyboard.press("Escape")
    assert not menu.is_visible()
    assert odd_visit.run(focused) == "Save the table: Long and wide"


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_a_table_is_copied_also_where_the_page_has_no_clipboard(
    odd_visit, odd_page, has_clipboard
):
    page = odd_visit.page
    if not has_clipboard:
        odd_visit.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.get_by_role("button", name="Save the table: Odd").click()
    page.get_by_role("button", name="Copy LaTeX").click()
    page.get_by_text("LaTeX copied.").wait_for()
    page.keyboard.press("Escape")
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('textarea'), {id: 'here'}))"
    )
    page.locator("#here").focus()
    page.keyboard.press("Control+v")

    assert page.locator("#here").input_value() == latex_files(odd_page)["odd.tex"]
    assert odd_visit.complaints == []


def test_the_menu_lies_within_a_phone(chromium, odd_page, tmp_path):
    (tmp_path / "odd.html").write_text(render_page(odd_page), encoding="utf-8")
    visit = Visit(chromium, (tmp_path / "odd.html").as_uri(), PHONE)
    for opener in visit.page.get_by_role("button", name="Save the table").all():
        opener.click()
        box = visit.page.get_by_role("dialog").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        visit.page.keyboard.press("Escape")

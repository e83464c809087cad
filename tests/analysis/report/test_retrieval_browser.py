"""The browser of retrieved images in a real browser: choices, keys, marks."""

import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Page, render_page
from podium.analysis.report.images import retrievals
from tests.analysis.browsed_store import read_browsed, squares, write_browsed_store
from tests.browser import LAPTOP, PHONE, Visit, every_size_and_scheme

pytestmark = pytest.mark.browser
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_browsed_store(tmp_path_factory.mktemp("browsed") / "study")


@pytest.fixture(scope="module")
def address(folder):
    return address_of(folder, folder.parent / "report.html")


def address_of(folder, file, **options):
    results = read_browsed(folder, **{"images": squares, **options})
    section = retrievals(results, series_of(results.losses))
    page = Page(title="t", subtitle="", sections=(section,))
    file.write_text(render_page(page), encoding="utf-8")
    return file.as_uri()


def opened(chromium, address, size=LAPTOP, **options):
    visit = Visit(chromium, address, size, **options)
    visit.open_all()
    return visit


def cards(visit):
    return visit.run(
        "[...document.querySelectorAll('.cards > .card')].map((card) => card.outerHTML)"
    )


def status(visit):
    return visit.page.locator("#retrieval [role=status]").inner_text()


def test_without_a_script_the_page_says_that_images_need_one(chromium, address):
    plain = Visit(chromium, address, LAPTOP, java_script_enabled=False)

    assert plain.page.locator(".retrieval-tools").is_hidden()
    assert "shown by a script" in plain.page.locator("#retrieval noscript").inner_text()
    assert len(cards(opened(chromium, address))) == 4


def test_arrow_keys_and_buttons_turn_pages(chromium, address):
    visit = opened(chromium, address)
    first = cards(visit)
    assert status(visit) == "Queries 1 to 4 of 42"

    visit.page.locator(".cards").focus()
    visit.page.keyboard.press("ArrowRight")
    assert status(visit) == "Queries 5 to 8 of 42"
    assert cards(visit) != first

    visit.page.keyboard.press("ArrowLeft")
    assert (status(visit), cards(visit)) == ("Queries 1 to 4 of 42", first)
    assert visit.page.locator("[name=back]").is_disabled()

    for _ in range(10):
        visit.page.get_by_role("button", name="Next").click()
    assert status(visit) == "Queries 41 to 42 of 42"
    visit.page.locator(".cards").focus()
    visit.page.keyboard.press("ArrowRight")
    assert status(visit) == "Queries 41 to 42 of 42"
    assert visit.complaints == []


def test_arrow_keys_move_the_cursor_where_a_class_is_typed(chromium, address):
    visit = opened(chromium, address)
    visit.page.locator("[name=class]").fill("class")
    visit.page.keyboard.press("ArrowRight")

    assert status(visit).startswith("Queries 1 to 4")


def test_orders_put_errors_and_disagreements_first(chromium, address):
    visit = opened(chromium, address)

    visit.page.locator("[name=order]").select_option("worst")
    worst = counts(visit)
    visit.page.locator("[name=order]").select_option("best")
    best = counts(visit)
    assert sum(map(sum, worst)) < sum(map(sum, best))

    visit.page.locator("[name=order]").select_option("disagreements")
    nearest = visit.run(
        "[...document.querySelectorAll('.card')].map((card) =>"
        " [...card.querySelectorAll('.neighbours')].map((row) => row.firstElementChild.className))"
    )
    assert all(set(rows) == {"tile hit", "tile miss"} for rows in nearest)


def counts(visit):
    """Right neighbours by card and loss; the words say the same as the marks."""
    rows = visit.run(
        "[...document.querySelectorAll('.cards .card')].map((card) =>"
        " [...card.querySelectorAll('.row')].map((row) => [row.querySelector('small').textContent,"
        " row.querySelectorAll('.hit').length]))"
    )
    assert all(words == f"{number} of 6 right" for row in rows for words, number in row)
    return [[number for _, number in row] for row in rows]


def test_a_block_and_a_class_are_chosen(chromium, address):
    visit = opened(chromium, address)
    first = cards(visit)
    visit.page.locator("[name=block]").select_option("1")
    assert cards(visit) != first

    visit.page.locator("[name=class]").fill("CLASS 3")
    assert status(visit) == "Queries 1 to 4 of 6"
    names = visit.page.locator(".card > .query .class-name").all_inner_texts()
    assert set(names) == {"class 3"}

    visit.page.locator("[name=class]").fill("no such class")
    assert status(visit) == "No query shown"
    assert cards(visit) == []


def test_paper_names_the_block_that_is_shown(chromium, address):
    visit = opened(chromium, address)
    visit.page.locator("[name=block]").select_option("1")
    name = visit.page.locator(".block-name")
    assert name.is_hidden()

    visit.page.emulate_media(media="print")
    assert name.inner_text() == "glyphs-latin/conv_small/16"
    assert visit.page.locator(".retrieval-tools").is_hidden()


def test_marks_are_signs_and_frames_not_colours_alone(chromium, address):
    visit = opened(chromium, address)
    looks = visit.run(
        "['hit', 'miss'].map((kind) => { const tile = document.querySelector(`.cards .${kind}`);"
        " return [tile.querySelector('.mark').textContent[0],"
        " getComputedStyle(tile.querySelector('.picture')).borderTopStyle,"
        " tile.querySelector('.picture').alt.split(':')[0]]; })"
    )

    assert looks == [["✓", "solid", "right"], ["✗", "dashed", "wrong"]]


@every_size_and_scheme
def test_it_is_quiet_and_fits(chromium, address, size, scheme):
    visit = opened(chromium, address, size, scheme=scheme)

    assert visit.complaints == []
    assert visit.run("document.documentElement.scrollWidth") <= size["width"]


def test_hostile_class_names_are_shown_and_not_run(chromium, tmp_path):
    names = tuple(f"{number}{HOSTILE}" for number in range(7))
    store = write_browsed_store(tmp_path / "study", names=names)
    visit = opened(chromium, address_of(store, tmp_path / "hostile.html"), PHONE)
    visit.page.get_by_role("button", name="Next").click()

    assert visit.complaints == []
    assert visit.page.title() != "owned"
    assert visit.run("document.querySelectorAll('img:not(.picture)').length") == 0
    assert HOSTILE in visit.page.locator(".card > .query .class-name").first.inner_text()

"""What a reader has before scrolling, and how the page unfolds from there."""

import pytest

from tests.browser import PHONE, Visit

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1280, "height": 800}
DESK = {"width": 1920, "height": 1080}


def bottom_of(visit, selector):
    return visit.run(f"document.querySelector('{selector}').getBoundingClientRect().bottom")


@pytest.fixture
def visit(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP)
    visit.drawn()
    return visit


@pytest.mark.parametrize("name", ["study", "table"])
@pytest.mark.parametrize(("size", "scheme"), [(LAPTOP, "light"), (DESK, "dark")])
def test_verdict_facts_picture_and_leaders_are_on_the_first_screen(
    chromium, addresses, name, size, scheme
):
    visit = Visit(chromium, addresses[name], size, scheme)
    visit.drawn()

    for selector in (".verdict-text", ".key-facts", "#summary-ranking-plot > svg", "#leaders"):
        assert 0 < bottom_of(visit, selector) <= size["height"], selector
    assert visit.run("document.querySelectorAll('.key-facts dd').length") == 3
    assert visit.complaints == []


def test_on_a_phone_they_are_one_column(chromium, addresses):
    visit = Visit(chromium, addresses["study"], PHONE)
    visit.drawn()
    lefts = visit.run(
        "['.verdict-text', '#summary-ranking'].map((it) =>"
        " document.querySelector(it).getBoundingClientRect().left)"
    )

    assert len(set(lefts)) == 1
    assert bottom_of(visit, ".key-facts") < PHONE["height"]


def test_the_page_is_short_before_it_is_unfolded(visit):
    assert visit.run("document.documentElement.scrollHeight") <= 8 * LAPTOP["height"]


def test_a_link_into_a_folded_chapter_unfolds_it_and_its_entry_is_marked(visit):
    visit.page.locator(".contents a", has_text="Provenance").click()
    visit.drawn()

    assert visit.page.locator("#provenance").is_visible()
    assert visit.page.locator(".contents a[aria-current]").inner_text() == "Provenance"


def test_a_permalink_leads_to_its_section_once_all_is_drawn(chromium, addresses):
    visit = Visit(chromium, f"{addresses['study']}#computed", LAPTOP)
    visit.drawn()
    top = visit.run("document.querySelector('#computed').getBoundingClientRect().top")

    assert visit.page.locator("#computed").is_visible()
    assert 0 <= top < LAPTOP["height"]


def test_all_chapters_are_opened_and_closed_by_one_button(visit):
    button = visit.page.locator(".open-all")
    closed = "document.querySelectorAll('details.chapter:not([open])').length"
    assert visit.run(closed) > 0

    button.focus()
    visit.page.keyboard.press("Enter")
    assert visit.run(closed) == 0
    assert button.inner_text() == "Close all"

    button.click()
    assert visit.run("document.querySelectorAll('details.chapter[open]').length") == 0


def test_what_is_not_shown_is_listed_with_its_reason(visit):
    visit.page.locator("#not-shown > summary").click()
    reasons = visit.page.locator("#not-shown li").all_inner_texts()

    assert "Validation protocols: The study has one protocol." in reasons
    assert all(": " in reason for reason in reasons)

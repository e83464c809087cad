"""The report in a real browser: nothing from the network, no error, fits a phone."""

import pytest

from tests.browser import LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser


def test_only_boxes_that_scroll_are_stops_for_the_keyboard(chromium, addresses):
    for size in (PHONE, LAPTOP):
        visit = Visit(chromium, addresses["study"], size)
        visit.open_all()
        visit.drawn()
        wrong = visit.run(
            "[...document.querySelectorAll('.scroll, .plots')].filter((b) => b.checkVisibility())"
            ".filter((b) => (b.scrollWidth > b.clientWidth || b.scrollHeight > b.clientHeight)"
            " !== (b.tabIndex === 0)).length"
        )
        assert wrong == 0


def test_the_summary_is_the_first_sheet_of_paper(chromium, addresses):
    for name in ("study", "table"):
        visit = Visit(chromium, addresses[name], LAPTOP)
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size(A4)
        visit.drawn()

        assert (
            visit.run("document.querySelector('#summary').getBoundingClientRect().bottom")
            < (A4["height"])
        )
        assert (
            visit.run("getComputedStyle(document.querySelector('#summary')).breakAfter") == "page"
        )


def test_figures_are_drawn_anew_at_the_width_of_paper(chromium, addresses):
    visit = Visit(chromium, addresses["table"], {"width": 1920, "height": 1080})
    visit.open_all()
    visit.run(
        """() => matchMedia("print").addEventListener("change", ({ matches }) => {
          if (matches) window.printed = [...document.querySelectorAll(".plot > svg")]
            .filter((svg) => svg.checkVisibility()).map((svg) => [
              svg.getAttribute("width"), svg.parentElement.clientWidth, document.body.clientWidth,
            ]);
        })"""
    )
    visit.page.pdf(format="A4")
    printed = visit.run("window.printed")

    assert len(printed) > 3
    assert all(int(width) == room <= paper < 900 for width, room, paper in printed)


A4 = {"width": 718, "height": 1047}  # CSS pixels within margins of a centimetre

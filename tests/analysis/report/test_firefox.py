"""The report in Firefox: it is drawn, filtered and highlighted as in Chromium."""

import pytest

from tests.analysis.figure_flaws import FLAWS
from tests.browser import PHONE

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1280, "height": 800}
FIRST_SCREEN = (".verdict-text", ".key-facts", "#summary-ranking-plot > svg", "#leaders")


@pytest.mark.parametrize("name", ["study", "table"])
def test_the_first_screen_has_the_verdict_the_picture_and_the_leaders(firefox, addresses, name):
    firefox.open(addresses[name], LAPTOP)

    for selector in FIRST_SCREEN:
        bottom = firefox.run(
            f"document.querySelector('{selector}').getBoundingClientRect().bottom"
        )
        assert 0 < bottom <= LAPTOP["height"], selector


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_all_figures_are_drawn_and_readable(firefox, addresses, size):
    firefox.open(addresses["study"], size)
    firefox.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    firefox.drawn()

    assert firefox.run("document.querySelectorAll('.plot > svg').length") > 20
    assert firefox.run("document.documentElement.scrollWidth - innerWidth") <= 0
    assert firefox.run(f"({FLAWS})()") == []


def test_a_filter_ranks_anew_and_a_press_highlights(firefox, addresses):
    firefox.open(addresses["study"], LAPTOP)
    caption = "document.querySelector('#summary-ranking figcaption').textContent"
    whole = firefox.run(caption)
    firefox.run(
        "(() => { const box = document.querySelector('.controls select'); box.selectedIndex = 1;"
        " box.dispatchEvent(new Event('change', { bubbles: true })); })()"
    )
    firefox.drawn()
    assert firefox.run("location.search") != ""
    assert (
        firefox.run("document.querySelector('#summary-ranking figcaption').textContent") != whole
    )

    firefox.click("#leaders tbody tr th")
    faded = "new Set([...document.querySelectorAll('#summary-ranking-plot [data-competitor]')]"
    assert firefox.run(f"{faded}.map((it) => getComputedStyle(it).opacity)).size") == 2

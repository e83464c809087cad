"""An accessibility checker finds nothing serious on any page."""

import itertools

import pytest

from tests.browser import LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser
axe_api = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)


ONCE = [("study", LAPTOP, "light"), ("table", PHONE, "dark")]
EVERY = itertools.product(("study", "table"), (PHONE, LAPTOP), ("light", "dark"))


@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    [*ONCE, *(pytest.param(*it, marks=pytest.mark.soak) for it in EVERY if it not in ONCE)],
)
def test_nothing_serious_is_found(chromium, addresses, name, size, scheme):
    # The page runs no script but its own; only here it has to bear the checker's.
    visit = Visit(chromium, addresses[name], size, scheme, bypass_csp=True)
    visit.open_all()
    found = axe_api.Axe().run(visit.page).response

    assert len(found["passes"]) > 15
    assert [summary(it) for it in found["violations"] if is_serious(it)] == []


def test_the_checker_would_find_a_picture_without_a_name(chromium, addresses):
    visit = Visit(chromium, addresses["table"], LAPTOP, bypass_csp=True)
    visit.run("document.querySelector('main').append(document.createElement('img'))")
    found = axe_api.Axe().run(visit.page).response

    assert "image-alt" in {it["id"] for it in found["violations"] if is_serious(it)}


def is_serious(violation):
    return violation["impact"] in ("serious", "critical")


def summary(violation):
    places = [node["html"][:160] for node in violation["nodes"]]
    return (violation["id"], len(places), places[:3])

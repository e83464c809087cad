"""What a reader has before scrolling, and how the page unfolds from there."""

import pytest

from podium.trainables.registry import names as names_of
from tests.analysis.figure_flaws import CUT, FLAWS
from tests.analysis.page_text import study_page
from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import Judge, ProtocolTruth
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.browser import PHONE, Visit

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1280, "height": 800}
DESK = {"width": 1920, "height": 1080}
LOSSES = names_of("losses")[:46]
SMALL = {"scripts": ("greek", "latin"), "embedding_dims": (16,), "search_trials": 3, "seeds": 1}
STUDIES = {
    "many": Truth(
        strengths={name: 0.004 * step for step, name in enumerate(LOSSES)},
        tuning_gains=dict.fromkeys(LOSSES, 0.01),
        **SMALL,
    ),
    "one": Truth(strengths={"contrastive": 0.0}, tuning_gains={"contrastive": 0.04}, **SMALL),
    "nothing known": Truth(
        strengths=dict.fromkeys(LOSSES[:3], 0.0),
        tuning_gains=dict.fromkeys(LOSSES[:3], 0.02),
        noise=0.03,
        **SMALL,
    ),
}
PROTOCOLS = ProtocolTruth(
    judges={"90-10": Judge(val_noise=2.5), "5-fold": Judge(kind="kfold", folds=5, seconds=80)},
    losses=("contrastive", "multi_similarity"),
    repeats=2,
    configs=4,
)

SELECTORS = "[...document.querySelectorAll('.selector select')]"


def bottom_of(visit, selector):
    return visit.run(f"document.querySelector('{selector}').getBoundingClientRect().bottom")


@pytest.fixture
def visit(chromium, addresses):
    visit = Visit(chromium, addresses["study"], LAPTOP)
    visit.drawn()
    return visit


@pytest.fixture(scope="module")
def pages(addresses, tmp_path_factory):
    """With pages of many losses, a single one, no known difference, and protocols."""
    folder = tmp_path_factory.mktemp("pages")
    stores = {name: write_store(folder / name, truth) for name, truth in STUDIES.items()}
    stores["protocols"] = write_protocol_store(folder / "protocols", PROTOCOLS)
    for name, store in stores.items():
        (folder / f"{name}.html").write_text(study_page(store), encoding="utf-8")
    return {**addresses, **{name: (folder / f"{name}.html").as_uri() for name in stores}}


@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    [
        ("study", LAPTOP, "light"),
        ("table", DESK, "dark"),
        *((name, LAPTOP, "light") for name in (*STUDIES, "protocols")),
    ],
)
def test_verdict_facts_picture_and_leaders_are_on_the_first_screen(
    chromium, pages, name, size, scheme
):
    visit = Visit(chromium, pages[name], size, scheme)
    visit.drawn()

    picture = ".summary > figure .plot > svg"
    others = {"protocols": [picture], "one": [".answer table"]}.get(
        name, [picture, ".answer table"]
    )
    for selector in (".verdict-text", ".key-facts", *others):
        assert 0 < bottom_of(visit, selector) <= size["height"], selector
    assert 1 <= visit.run("document.querySelectorAll('.key-facts dd').length") <= 3
    assert visit.complaints == []


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (LAPTOP, "light"), (DESK, "light")])
@pytest.mark.parametrize("name", ["study", "table", "many"])
def test_no_text_is_cut_whatever_is_open_and_chosen_and_the_console_is_quiet(
    chromium, pages, name, size, scheme
):
    visit = Visit(chromium, pages[name], size, scheme)
    visit.drawn()
    assert visit.run(CUT) == []
    visit.open_all()
    for choice in range(visit.run(f"Math.max(1, ...{SELECTORS}.map((it) => it.options.length))")):
        visit.run(
            f"for (const it of {SELECTORS}) if ({choice} < it.options.length) {{"
            f" it.selectedIndex = {choice}; it.dispatchEvent(new Event('change')); }}"
        )
        visit.drawn()
        assert visit.run(CUT) == []
        assert visit.run(FLAWS) == []
    assert visit.run("document.documentElement.scrollWidth") <= size["width"]
    assert visit.complaints == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_phone_shows_the_whole_width_of_the_table(chromium, pages, name):
    visit = Visit(chromium, pages[name], PHONE)
    visit.drawn()

    hidden = "(it) => it.scrollWidth - it.clientWidth"
    assert visit.page.locator(".answer .scroll").evaluate(hidden) == 0
    assert visit.run("document.documentElement.scrollWidth") <= PHONE["width"]


def test_46_losses_take_at_most_twelve_screens_before_folds_are_opened(chromium, pages):
    visit = Visit(chromium, pages["many"], LAPTOP)
    visit.drawn()

    assert visit.run("document.documentElement.scrollHeight") <= 12 * LAPTOP["height"]
    assert visit.run(FLAWS) == []


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


def test_all_folds_are_opened_and_closed_by_one_button(visit):
    button = visit.page.locator(".open-all")
    closed = "document.querySelectorAll('details:not([open])').length"
    assert visit.run(closed) > 0

    button.focus()
    visit.page.keyboard.press("Enter")
    assert visit.run(closed) == 0
    assert button.inner_text() == "Close all"

    button.click()
    assert visit.run("document.querySelectorAll('details[open]').length") == 0


def test_what_is_not_shown_is_listed_with_its_reason(visit):
    visit.page.locator("#not-shown > summary").click()
    reasons = visit.page.locator("#not-shown li").all_inner_texts()

    assert "Validation protocols: The study has one protocol." in reasons
    assert all(": " in reason for reason in reasons)

"""The first screen of pages with many losses, a single one, no known difference, and protocols."""

import pytest

from podium.analysis.report.report import study_page
from podium.trainables.registry import names as names_of
from tests.analysis.figure_flaws import FLAWS
from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import Judge, ProtocolTruth
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.browser import PHONE, Visit

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1280, "height": 800}
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


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    stores = {name: write_store(folder / name, truth) for name, truth in STUDIES.items()}
    stores["protocols"] = write_protocol_store(folder / "protocols", PROTOCOLS)
    for name, store in stores.items():
        (folder / f"{name}.html").write_text(study_page(store), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in stores}


@pytest.mark.parametrize("name", [*STUDIES, "protocols"])
def test_verdict_facts_picture_and_table_are_seen_before_scrolling(chromium, addresses, name):
    visit = Visit(chromium, addresses[name], LAPTOP)
    visit.drawn()

    seen = (".verdict-text", ".key-facts", ".summary > figure .plot > svg")
    for shown in seen if name == "protocols" else (*seen, ".answer table"):
        bottom = visit.run(f"document.querySelector('{shown}').getBoundingClientRect().bottom")
        assert 0 < bottom <= LAPTOP["height"], shown
    assert visit.complaints == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_phone_shows_the_whole_width_of_the_table(chromium, addresses, name):
    visit = Visit(chromium, addresses[name], PHONE)
    visit.drawn()

    hidden = "(it) => it.scrollWidth - it.clientWidth"
    assert visit.page.locator(".answer .scroll").evaluate(hidden) == 0
    assert visit.run("document.documentElement.scrollWidth") <= PHONE["width"]


def test_46_losses_take_at_most_twelve_screens_before_folds_are_opened(chromium, addresses):
    visit = Visit(chromium, addresses["many"], LAPTOP)
    visit.drawn()

    assert visit.run("document.documentElement.scrollHeight") <= 12 * LAPTOP["height"]
    assert visit.run(FLAWS) == []

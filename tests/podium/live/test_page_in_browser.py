"""The live page in a browser: what it shows, what it follows, and that all can use it."""

import shutil
import threading
from urllib.parse import urlsplit

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from podium.live import feed
from podium.live.followed_study import FollowedStudy
from podium.live.serving import LiveServer
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.browser import LAPTOP, Visit, every_size_and_scheme
from tests.orchestrator.small_study import STUDY, run_here
from tests.podium.live.running_study import running, stopped_study

pytestmark = pytest.mark.browser
SMALL = "glyphs-greek/conv_small/8 contrastive"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    return stopped_study(tmp_path_factory.mktemp("stopped"))


@pytest.fixture
def folder(tmp_path, stopped):
    return shutil.copytree(stopped, tmp_path / STUDY.name)


@pytest.fixture
def visited(chromium, request):
    visits = []

    def visit(server, *look):
        parts = urlsplit(server.url)
        visits.append(Visit(chromium, server.url, *look, origin=f"http://{parts.netloc}"))
        visits[-1].page.locator("#rows tr").first.wait_for()
        return visits[-1]

    yield visit
    for opened in visits:
        opened.context.close()


def text_of(visit, selector):
    return " ".join(visit.page.inner_text(selector).split())


@every_size_and_scheme
def test_a_running_study_is_shown_without_a_complaint(folder, visited, size, scheme):
    axe_api = pytest.importorskip("axe_playwright_python.sync_playwright")
    with running(folder), LiveServer(folder, may_control=True) as server:
        visit = visited(server, size, scheme)
        visit.page.wait_for_selector("#curves svg")
        assert text_of(visit, "#state").startswith("running on ")
        assert text_of(visit, "#slots") == "1 of 2"
        assert text_of(visit, "#gpus") == "0.5"
        assert text_of(visit, "#end-note") == "in 90 s"
        first = "#curves figure:first-child"
        assert "running · node-a · 0 · R@1 0.5000 at epoch 2" in text_of(visit, first)
        assert visit.page.get_by_role("img", name=f"{SMALL}: ").count() == 1
        assert visit.run("document.documentElement.scrollWidth <= innerWidth")
        found = axe_api.Axe().run(visit.page).response
        serious = [it for it in found["violations"] if it["impact"] in ("serious", "critical")]
        assert serious == []
        assert visit.complaints == []


def test_the_page_follows_the_study_to_its_report(folder, visited, tmp_path):
    with LiveServer(folder) as server:
        visit = visited(server, LAPTOP)
        assert text_of(visit, "#state") == "stopped"
        with running(folder):
            visit.page.locator("#state", has_text="running on").wait_for()
        run_here(STUDY, tmp_path)
        (folder / "report.html").write_text("<title>of it</title><h1>The report</h1>")
        visit.page.get_by_role("heading", name="The report").wait_for(timeout=60_000)
        assert visit.complaints == []


def test_a_search_is_cancelled_and_the_study_paused_by_the_keyboard(folder, visited):
    with LiveServer(folder, may_control=True) as server:
        page = visited(server, LAPTOP).page
        page.get_by_role("searchbox", name="Filter").fill("/8 contr")
        assert page.locator("#rows tr:visible").count() == 1
        page.get_by_role("button", name=f"Cancel {SMALL}").press("Enter")
        page.get_by_role("button", name=f"Undo {SMALL}").wait_for()
        page.get_by_role("button", name="Pause").press("Space")
        page.get_by_role("button", name="Resume").wait_for()
        page.get_by_label("Trials at a time").fill("0")
        page.get_by_role("button", name="Set").press("Enter")
        page.get_by_text("Refused: ").wait_for()
    written = (folder / "control.yaml").read_text()
    assert written == f"cancel:\n- {SMALL}\npause: true\n"


def test_failures_show_their_cause_and_the_end_of_their_log(tmp_path, visited):
    truth = Truth(failed_finals=(("glyphs-greek/conv_small/16", "contrastive"),))
    folder = write_store(tmp_path / "synthetic", truth)
    failed = next(
        row["trial_id"]
        for row in Reader(folder).trials().sort("ended_at").collect().to_dicts()[::-1]
        if row["state"] == "FAILED"
    )
    log = StudyPaths(folder).trial_log(failed)
    log.parent.mkdir(parents=True)
    log.write_text("<img src=x onerror=alert(1)> the last words")
    with LiveServer(folder) as server:
        visit = visited(server, LAPTOP)
        box = visit.page.locator("#failures details", has_text=failed)
        box.locator("summary").press("Enter")
        box.get_by_text("the last words").wait_for()
        assert box.locator("img").count() == 0
        assert visit.page.locator("#failures details").count() == int(text_of(visit, "#failed"))
        assert visit.complaints == []


def test_what_did_not_change_stays_as_it_is_when_the_page_is_updated(folder, visited):
    with LiveServer(folder) as server:
        visit = visited(server, LAPTOP)
        figures = visit.page.locator("#curves figure")
        with running(folder):
            figures.get_by_text("node-a").wait_for()
            shown = figures.count()
            seen = "for (const it of document.querySelectorAll('figure')) it.dataset.seen = 'yes'"
            visit.run(seen)
        figures.get_by_text("node-a").wait_for(state="detached")
        assert visit.page.locator("#curves figure[data-seen]").count() == shown - 1 > 0
        assert visit.complaints == []


def test_a_page_says_how_old_its_figures_are(folder, visited, monkeypatch):
    monkeypatch.setattr(feed, "_OLD_SECONDS", -2.5)  # half a second, as local folders are read
    monkeypatch.setattr(feed, "_KEEP_ALIVE_SECONDS", 0.2)
    goes_on = threading.Event()
    with LiveServer(folder) as server:
        visit = visited(server, LAPTOP)
        look = FollowedStudy.view
        monkeypatch.setattr(FollowedStudy, "view", lambda it: goes_on.wait(20) and look(it))
        visit.page.locator("#age", has_text="last read").wait_for()
        goes_on.set()


def test_a_page_says_when_its_server_is_gone(folder, visited):
    with LiveServer(folder) as server:
        visit = visited(server, LAPTOP)
        visit.page.locator("#state", has_text="stopped").wait_for()
    visit.page.locator("#state", has_text="No connection").wait_for()

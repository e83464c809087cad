"""The live page in a browser: what it shows, what it follows, and that all can use it."""

import pytest

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.browser import LAPTOP, Visit, every_size_and_scheme
from tests.orchestrator.small_study import STUDY, run_here
from tests.podium.live.running_study import running
from tests.podium.live.test_server import served

pytestmark = pytest.mark.browser
SMALL = "glyphs-greek/conv_small/8 contrastive"


@pytest.fixture
def visited(chromium, request):
    visits = []

    def visit(client, *look):
        origin = f"http://127.0.0.1:{client.port}"
        address = f"{origin}/?token={client.token}"
        visits.append(Visit(chromium, address, *look, origin=origin))
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
    with running(folder), served(folder) as server:
        visit = visited(server, size, scheme)
        visit.page.wait_for_selector("#curves svg")
        assert text_of(visit, "#state").startswith("running on ")
        assert "(in 1 min 30 s)" in text_of(visit, "#totals")
        first = "#curves figure:first-child"
        assert "running · node-a 0 · validation R@1 50.0 % at epoch 2" in text_of(visit, first)
        assert visit.page.get_by_role("img", name=f"{SMALL}: ").count() == 1
        assert visit.run("document.documentElement.scrollWidth <= innerWidth")
        found = axe_api.Axe().run(visit.page).response
        serious = [it for it in found["violations"] if it["impact"] in ("serious", "critical")]
        assert serious == []
        assert visit.complaints == []


def test_the_page_follows_the_study_and_links_its_report(folder, visited, tmp_path):
    with served(folder) as server:
        visit = visited(server, LAPTOP)
        assert text_of(visit, "#state") == "stopped"
        with running(folder):
            visit.page.locator("#state", has_text="running on").wait_for()
        run_here(STUDY, tmp_path)
        (folder / "report.html").write_text("<title>of it</title><h1>The report</h1>")
        with visit.context.expect_page() as opened:
            visit.page.get_by_role("link", name="Report").click(timeout=60_000)
        opened.value.get_by_role("heading", name="The report").wait_for()
        assert opened.value.evaluate("window.opener === null && document.referrer") == ""
        assert visit.complaints == []


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
    with served(folder) as server:
        visit = visited(server, LAPTOP)
        box = visit.page.locator("#failures details", has_text=failed)
        box.locator("summary").press("Enter")
        box.get_by_text("the last words").wait_for()
        assert box.locator("img").count() == 0
        assert visit.complaints == []

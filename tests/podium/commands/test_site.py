"""`podium site` says what it wrote and what it refused, and looks well in a browser."""

import json
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import podium
from tests.browser import LAPTOP, PHONE, Visit
from tests.podium.calling import call
from tests.podium.site_storage import add_broken, make_storage


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return add_broken(make_storage(tmp_path_factory.mktemp("group") / "results"))


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("site") / "public"


@pytest.fixture
def written(storage, output, capsys):
    return call(capsys, "site", storage, "--output", output, "--json")


def test_what_was_written_and_refused_is_said_and_the_exit_code_is_1(
    written, storage, output, capsys
):
    record = json.loads(written.out)
    assert written.code == 1
    assert record["leaderboards"] == [["berlin", "kyoto"]]
    assert list(record["refused"]) == ["altered", "bitrot", "foreign", "half"]
    assert len(record["written"]) == 9
    again = call(capsys, "site", storage, "--output", output)
    assert again.code == 1
    assert f"{output / 'index.html'}: 3 studies, 1 leaderboard; 0 files written" in again.out
    assert "9 unchanged, 0 removed" in again.out
    assert "in no leaderboard: pilot: search.trials differs" in again.out
    assert "refused: foreign: it has no store.json" in again.err


def test_mistakes_are_one_line(storage, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    for arguments, message in (
        ((storage, "--output", tmp_path), "holds mine.txt and no site.json"),
        ((tmp_path / "nowhere", "--output", tmp_path / "x"), "there are no studies in"),
    ):
        called = call(capsys, "site", *arguments)
        assert called.code == 2
        assert called.err.startswith("podium: ")
        assert message in called.err


@pytest.mark.browser
def test_the_index_is_quiet_accessible_and_leads_to_reports(chromium, written, output):
    axe_api = pytest.importorskip("axe_playwright_python.sync_playwright")
    visit = Visit(chromium, (output / "index.html").as_uri(), LAPTOP, bypass_csp=True)
    found = axe_api.Axe().run(visit.page).response
    serious = [it["id"] for it in found["violations"] if it["impact"] in ("serious", "critical")]
    assert serious == []
    visit.page.locator("#ranking-1 thead th", has_text="Average rank").click()
    visit.page.locator("#studies a", has_text="kyoto").first.click()
    assert visit.page.locator("h1").inner_text() == "kyoto"
    visit.page.get_by_role("link", name="All studies").click()
    assert visit.page.url.endswith("index.html")
    assert visit.complaints == []


LONG = "a_name_of_a_study_without_any_break_" * 5


@pytest.fixture
def served(storage, tmp_path):
    """The site of studies with odd names, and its address, served as `python -m http.server`."""
    for name in ("berlin", "münchen 100% #1 & <b>", LONG):
        shutil.copytree(storage / "berlin", tmp_path / "results" / name)
    made = podium.site(tmp_path / "results", tmp_path / "public")
    handler = partial(SimpleHTTPRequestHandler, directory=str(made.index.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield made, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.browser
def test_on_a_web_server_every_link_leads_somewhere_and_a_phone_shows_all(chromium, served):
    made, origin = served
    visit = Visit(chromium, f"{origin}/", PHONE, origin=origin)
    visit.open_all()
    assert visit.run("document.documentElement.scrollWidth") <= PHONE["width"]
    heads = "[...document.querySelectorAll('tbody th')].map((it) => it.offsetWidth)"
    assert max(visit.run(heads)) < 0.6 * PHONE["width"]  # so that numbers are seen beside names
    links = visit.run("[...document.querySelectorAll('main a[href]')].map((it) => it.href)")
    assert sum(".parquet" in link for link in links) > len(links) / 2
    assert {visit.context.request.get(link).status for link in set(links)} == {200}
    for name in made.studies:
        visit.page.locator("#studies").get_by_role("link", name=name, exact=True).click()
        assert visit.page.locator("h1").inner_text() == name
        visit.page.get_by_role("link", name="All studies").click()
    assert visit.complaints == []

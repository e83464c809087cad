"""`podium site` says what it wrote and what it refused, and looks well in a browser."""

import json

import pytest

from tests.browser import LAPTOP, Visit
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

"""The report of results made by an attacker, in a real browser."""

import pytest

from podium.analysis.page.html_page import render_page
from podium.analysis.report.report import study_report
from podium.analysis.study_results.study_results import read_results
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
TRUTH = Truth(
    scripts=("greek", "latin"),
    embedding_dims=(16,),
    search_trials=4,
    seeds=2,
    class_prefix=f"{SCRIPT}\x1b\u202e",
)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    store = write_store(folder / "synthetic", TRUTH, renamed={"proxy_anchor": "<img src=x>"})
    html = render_page(study_report(read_results(store)))
    (folder / "report.html").write_text(html, encoding="utf-8")
    return folder / "report.html"


def test_words_of_the_folder_are_shown_and_not_run(chromium, page_file):
    visit = Visit(chromium, page_file.as_uri(), LAPTOP)
    visit.open_all()

    assert visit.complaints == []  # no request, nothing that the policy had to stop
    assert visit.page.title() != "owned"
    assert visit.run("document.querySelectorAll('img[src=x]').length") == 0
    assert visit.run("document.body.textContent.includes('<img src=x>')")


def test_the_policy_stops_what_would_get_past_the_escapes(chromium, page_file, tmp_path):
    forged = tmp_path / "forged.html"
    text = page_file.read_text(encoding="utf-8")
    forged.write_text(text.replace("<main", f"{SCRIPT}<main", 1), encoding="utf-8")
    visit = Visit(chromium, forged.as_uri(), LAPTOP)

    assert visit.page.title() != "owned"
    assert any("Content Security Policy" in complaint for complaint in visit.complaints)


def test_no_control_character_is_in_the_page(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert not set(text) & {"\x1b", "\u202e", "\x9b", "\r"}

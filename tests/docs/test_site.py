"""The site is whole, loads nothing from elsewhere, and finds what is searched for."""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.code_blocks import DOCS, ROOT

LOOKED_AT = [("reference/commands", 390), ("explanation/statistics/leaderboard", 1280)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` does; a broken link or a page without a place is an error."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_on_the_site(site):
    pages = [page.relative_to(DOCS) for page in DOCS.rglob("*.md")]
    assert len(pages) > 50
    for page in pages:
        stem = "index" if page.stem == "README" else page.stem
        assert (site / page.with_name(f"{stem}.html")).exists(), page


def test_no_page_loads_anything_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*src=[\"']?([^\"' >]+)", text)
        loaded += re.findall(r"<link[^>]*rel=\"?(?:stylesheet|icon|preconnect)[^>]*", text)
        assert not [what for what in loaded if "://" in what], page


def test_links_to_files_beside_the_docs_lead_to_copies_of_them(site):
    assert (site / "repository" / "benchmarks" / "RESULTS.html").exists()
    copied = site / "repository" / "trainables" / "losses" / "proxy_anchor.py"
    assert copied.read_bytes() == (ROOT / "trainables" / "losses" / "proxy_anchor.py").read_bytes()


def test_nothing_but_pages_and_what_they_show_is_on_the_site(site):
    beside = [file for file in site.rglob("*.py") if "repository" not in file.parts]
    assert beside == []


@pytest.mark.browser
@pytest.mark.parametrize(("name", "width"), LOOKED_AT)
def test_a_page_opened_as_a_file_is_quiet_and_fits(site, chromium, name, width):
    page = chromium.new_page(viewport={"width": width, "height": 800})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    page.wait_for_load_state("networkidle")
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.browser
def test_search_finds(site, chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / "index.html").as_uri())
    box = page.get_by_role("textbox", name="Search").first
    box.focus()  # which loads the index
    page.get_by_text("Type to start searching").wait_for(state="attached", timeout=120_000)
    box.press_sequentially("retry-failed")  # the search hears keys, not a value that is set
    found = ".md-search-result__item a[href*='reference/commands.html']"
    page.wait_for_selector(found, state="attached")
    page.close()

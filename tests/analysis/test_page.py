"""Values become one page: escaped, self-contained, the same every time."""

import base64
import hashlib
import re

import pytest
from jinja2 import UndefinedError

from analysis.figures.style import series_of
from analysis.page import Cell, Column, Link, Table, render_page
from analysis.rank_uncertainty import rank_stability
from analysis.sections.leaderboard import leaderboard
from analysis.sections.published import score_table
from tests.analysis.thesis_cub200 import tournament as thesis_tournament

HOSTILE = "<script>alert(1)</script>\"' onload=x"


def page(**changes):
    tournament = thesis_tournament()
    series = series_of(tournament.names)
    values = {
        "title": "A title",
        "subtitle": "A subtitle",
        "links": (),
        "headline": "A headline",
        "sentences": ("One.",),
        "notices": (),
        "board": leaderboard(tournament, rank_stability(tournament), series, metric="recall"),
        "scores": score_table(tournament, series, score="recall"),
    }
    return render_page("table.html.j2", **{**values, **changes})


def test_equal_values_give_equal_bytes():
    assert page() == page()


def test_a_value_the_template_misses_is_an_error():
    with pytest.raises(UndefinedError, match="notices"):
        render_page("table.html.j2", title="t", subtitle="s", links=())


@pytest.mark.parametrize("place", ["title", "subtitle", "headline"])
def test_hostile_text_is_escaped(place):
    html = page(**{place: HOSTILE})

    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_hostile_cells_and_links_are_escaped():
    table = Table(
        name="scores",
        caption=HOSTILE,
        columns=(Column(label=HOSTILE),),
        rows=((Cell(text=HOSTILE, order=HOSTILE, detail=HOSTILE),),),
    )
    html = page(scores=table, links=(Link(href='"><b>', label=HOSTILE),), notices=(HOSTILE,))

    assert "<script>alert" not in html
    assert '"><b>' not in html


def test_the_page_forbids_itself_any_network_and_runs_only_its_own_script():
    html = page()
    script = re.search(r"<script>(.*)</script>", html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    assert "default-src 'none'" in html
    assert f"script-src 'sha256-{digest}'" in html


def test_nothing_is_loaded_from_elsewhere():
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", page())


def test_ids_are_unique():
    ids = re.findall(r'\bid="([^"]+)"', page())

    assert len(ids) == len(set(ids))


def test_every_label_refers_to_something_on_the_page():
    html = page()
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    labels = re.findall(r'aria-labelledby="([^"]+)"', html)

    assert {name for label in labels for name in label.split()} <= ids


def test_tables_have_captions_and_scoped_heads():
    html = page()

    assert html.count("<table") == html.count("<caption")
    assert not re.findall(r"<th(?! scope=)[ >]", html)

"""Values become one page: escaped, self-contained, the same every time."""

import base64
import hashlib
import re
from collections.abc import Mapping

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from podium.analysis.figures.plot import Plot
from podium.analysis.page.html_page import (
    Bullets,
    Fold,
    Heading,
    Illustration,
    Page,
    Paragraph,
    Section,
    SideBySide,
    fragment,
    render_page,
)
from podium.analysis.page.tables import Cell, Column, Table
from podium.analysis.report.report import table_report
from podium.analysis.tournament.table_tournament import rank_table
from tests.analysis import thesis_cub200

HOSTILE = "<script>alert(1)</script>\"' onload=x"


def new_thesis_page():
    return render_page(
        table_report(rank_table(thesis_cub200.score_table()), title="A title", source="A subtitle")
    )


@pytest.fixture(scope="module")
def thesis_page():
    return new_thesis_page()


def page_with(*parts, **changes):
    section = Section(name="one", title="One", parts=parts)
    values = {"title": "A title", "subtitle": "A subtitle", "sections": (section,)}
    return render_page(Page(**{**values, **changes}))


def small_table(text="x", **changes):
    values = {
        "name": "small",
        "caption": text,
        "columns": (Column(label=text),),
        "rows": ((Cell(text=text, order=text, detail=text),),),
    }
    return Table(**{**values, **changes})


def small_figure(text="x", **changes):
    plot = Plot(kind="ranking", name="plot", title=text, values={"a": text})
    values = {"name": "figure", "plots": (plot,), "caption": text}
    return Illustration(**{**values, "table": small_table(text, name="numbers"), **changes})


def test_equal_values_give_equal_bytes(thesis_page):
    assert new_thesis_page() == thesis_page


def test_a_value_the_template_misses_is_an_error():
    with pytest.raises(UndefinedError, match="facts"):
        fragment("facts.html.j2")


PARTS: Mapping[str, object] = {
    "heading": lambda text: Heading(text=text),
    "paragraph": lambda text: Paragraph(text=text),
    "notice": lambda text: Paragraph(text=text, style="notice"),
    "bullets": lambda text: Bullets(items=(text,)),
    "table": small_table,
    "figure": small_figure,
    "side by side": lambda text: SideBySide(parts=(small_figure(text),)),
    "fold": lambda text: Fold(summary=text, parts=(Fold(summary=text, parts=()),)),
}


@pytest.mark.parametrize("kind", PARTS)
def test_every_part_shows_its_text_escaped(kind):
    html = page_with(PARTS[kind](HOSTILE))

    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_markup_is_kept_as_it_is():
    assert "<b>bold</b>" in page_with(Markup("<b>bold</b>"))


def test_sections_stand_in_the_order_given_and_the_contents_lead_to_them():
    names = ("zeta", "alpha", "middle")
    html = page_with(
        sections=tuple(Section(name=name, title=f"The {name}", parts=()) for name in names)
    )

    assert re.findall(r'<a href="#(\w+)">The', html) == list(names)
    assert re.findall(r'<section id="(\w+)">', html) == list(names)
    assert re.findall(r"<h2>The (\w+)</h2>", html) == list(names)


def test_tables_side_by_side_are_small():
    two = (small_table(), small_table(name="other"))

    assert page_with(SideBySide(parts=two)).count('class="small-tables"') == 1
    assert page_with(*two).count('class="small-tables"') == 0


def test_parts_within_a_fold_stand_within_it():
    html = page_with(
        Fold(summary="More", parts=(Fold(summary="Deeper", parts=(Heading(text="X"),)),))
    )
    places = [
        html.index(text) for text in ("<summary>More", "<summary>Deeper", "<h4>X", "</section>")
    ]

    assert places == sorted(places)


def test_each_heading_of_a_section_and_what_follows_it_is_a_passage():
    lead, one, two = (Paragraph(text=text) for text in ("lead", "one", "two"))
    parts = (lead, Heading(text="A"), one, Heading(text="B"), two)
    section = Section(name="s", title="S", parts=parts)
    assert section.opening == (lead,)
    assert section.passages == ((Heading(text="A"), one), (Heading(text="B"), two))


def test_a_section_without_headings_has_no_passages():
    section = Section(name="s", title="S", parts=(Paragraph(text="all"),))
    assert section.opening == section.parts
    assert section.passages == ()


@pytest.mark.parametrize("place", ["title", "subtitle"])
def test_a_hostile_title_is_escaped(place):
    html = page_with(**{place: HOSTILE})

    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_the_page_forbids_itself_any_network_and_runs_only_its_own_script(thesis_page):
    scripts = re.findall(r"<script>(.*?)</script>", thesis_page, re.DOTALL)
    digests = {base64.b64encode(hashlib.sha256(it.encode()).digest()).decode() for it in scripts}

    assert "default-src 'none'" in thesis_page
    allowed = re.search(r"script-src ([^;\"]*)", thesis_page)[1]
    assert set(allowed.split()) == {f"'sha256-{digest}'" for digest in digests}


def test_nothing_is_loaded_from_elsewhere(thesis_page):
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", thesis_page)


def test_tables_have_captions_and_scoped_heads(thesis_page):

    assert thesis_page.count("<table") == thesis_page.count("<caption")
    assert not re.findall(r"<th(?! scope=)[ >]", thesis_page)


def test_neighbours_of_one_chapter_lie_within_it_and_are_listed_below_it():
    names = {"a": "One", "b": "One", "c": "Two", "d": "", "e": ""}
    html = page_with(
        sections=tuple(
            Section(name=name, title=f"To {name}", parts=(), chapter=chapter)
            for name, chapter in names.items()
        )
    )
    contents = re.search(r"<nav.*?</nav>", html, re.DOTALL)[0]
    chapter = re.search(r'<details class="chapter".*?</details>', html, re.DOTALL)[0]

    assert re.findall(r'href="#(\w)">([^<\n]*)', contents) == [
        *(("a", "One"), ("a", "To a"), ("b", "To b")),
        *(("c", "To c"), ("d", "To d"), ("e", "To e")),
    ]
    assert "<h2>One</h2>" in chapter
    assert re.findall(r'<section id="(\w)">', chapter) == ["a", "b"]

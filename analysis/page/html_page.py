"""A page as values, and its rendering as one self-contained HTML file.

Templates, style and scripts are inlined.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import Series, every_look
from podium.analysis.page.latex_tables import latex_table
from podium.analysis.page.scripts import PLOT_LIBRARY, content_security_policy, page_script
from podium.analysis.page.tables import Table
from podium.orchestrator.results.storage.printable_text import json_visible

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Illustration:
    """A figure: one plot or a row of small ones, its caption, and its numbers as a table.

    A figure whose numbers another table of the page has needs none of its own.

    Attributes:
        name: unique within the page; letters, digits and ``-``.
        plots: its plots.
        caption: what the figure shows.
        table: numbers of the figure; a summary where it has thousands of marks.
        legend: competitors named above the plots.
        selector: what its plots differ in, such as ``Block``, where one is shown at a time and
            the reader chooses which by its label; "" where all are shown.
    """

    name: str
    plots: tuple[Plot, ...]
    caption: str
    table: Table | None = None
    legend: tuple[Series, ...] = ()
    selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Plain text, escaped; ``lead`` is larger, a ``notice`` is framed, a ``note`` is muted."""

    text: str
    style: Literal["plain", "lead", "notice", "note"] = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullets:
    """A list, one sentence an item."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Narrow tables beside each other where there is room."""

    parts: tuple[Table, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Parts shown when ``summary`` is pressed, and on paper."""

    summary: str
    parts: tuple["Part", ...]


Part = Heading | Paragraph | Bullets | Table | Illustration | SideBySide | Fold | Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The first screen of a page.

    Attributes:
        verdict: who won, or that nothing is known.
        facts: the numbers that matter most, at most three, each with what it is.
        picture: the figure beside them; None where nothing can be drawn.
        leaderboard: the first competitors; None where there is no ranking.
        sentences: sentences that qualify the verdict, folded.
        notices: warnings about the data and how it was compared.
    """

    verdict: str
    facts: tuple[tuple[str, str], ...] = ()
    picture: Illustration | None = None
    leaderboard: Table | None = None
    sentences: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a page.

    Attributes:
        name: unique within the page; letters, digits and ``-``; the target of links.
        title: heading of the section, and its name in the page's contents.
        parts: parts from top to bottom.
        chapter: name of the chapter, which groups neighbouring sections; "" for none.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    chapter: str = ""

    @property
    def opening(self) -> tuple[Part, ...]:
        """The parts before its first heading."""
        return tuple(itertools.takewhile(lambda it: not isinstance(it, Heading), self.parts))

    @property
    def passages(self) -> tuple[tuple[Part, ...], ...]:
        """Each heading within it with the parts below, laid beside each other where they fit."""
        starts = [at for at, it in enumerate(self.parts) if isinstance(it, Heading)]
        return tuple(
            self.parts[start:end] for start, end in itertools.pairwise((*starts, len(self.parts)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page, before it is HTML.

    Attributes:
        title: heading of the page.
        subtitle: line below the heading.
        sections: sections from top to bottom.
        summary: its first screen; None where it opens with its first section.
        series: looks of the competitors, for its plots.
        not_shown: title of each section that it has not, and why.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    summary: Summary | None = None
    series: tuple[Series, ...] = ()
    not_shown: tuple[tuple[str, str], ...] = ()

    @property
    def chapters(self) -> tuple[tuple[str, tuple[Section, ...]], ...]:
        """Neighbouring sections of one chapter, each time with its heading.

        That of a single section is its own title.
        """
        runs = itertools.groupby(self.sections, key=lambda section: section.chapter)
        groups = [
            group
            for chapter, run in runs
            for group in ([tuple(run)] if chapter else [(section,) for section in run])
        ]
        return tuple(
            (group[0].title if len(group) == 1 else group[0].chapter, group) for group in groups
        )


def render_page(page: Page) -> str:
    """The page as one HTML file; equal pages give equal bytes.

    Every text is escaped unless it is Markup, and control characters are spelt out. The page
    forbids itself any network access.
    """
    main = fragment("main.html.j2", page=page)
    looks = {it.name: {"colour": it.css_colour, "symbol": it.symbol} for it in page.series}
    script = page_script({plot.kind for plot in plots_of(page)})
    return json_visible(
        fragment(
            "page.html.j2",
            page=page,
            main=main,
            markers=_markers(main),
            competitors=_embedded_json(looks),
            style=Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
            script=Markup(script),
            plot_library=Markup(PLOT_LIBRARY),
            policy=Markup(content_security_policy(script)),
        )
    )


def plots_of(page: Page) -> Iterator[Plot]:
    """Every plot that the browser draws, from the top of the page to its end."""
    parts = [part for section in page.sections for part in section.parts]
    pictures = [page.summary.picture] if page.summary and page.summary.picture else []
    return (plot for part in (*pictures, *parts) for plot in _plots_within(part))


def _plots_within(part: Part) -> Iterator[Plot]:
    if isinstance(part, Illustration):
        yield from part.plots
    elif isinstance(part, Fold):
        for inner in part.parts:
            yield from _plots_within(inner)


def fragment(template: str, **values: object) -> Markup:
    """Render ``templates/<template>``, for a part that is not just text and tables.

    Every value is escaped unless it is Markup. A value the template uses but did not get is an
    error.
    """
    return Markup(_environment().get_template(template).render(**values))


def _markers(main: str) -> Markup:
    """The symbols that keys of competitors refer to, each drawn once."""
    used = set(re.findall(r'<use href="#(key-\w+)"/>', main))
    return fragment("markers.html.j2", looks=[it for it in every_look() if it.key in used])


def _embedded_json(values: object) -> Markup:
    """Values as JSON within a script element, which no text of theirs can end."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _breakable(text: str) -> Markup:
    """Text whose names, such as ``multi_similarity``, break behind an underscore if they must."""
    whole = Markup('<span class="whole">{}</span>')
    parts = re.split(r"(\w+_\w+)", text)  # each other one is a name
    return Markup("").join(
        whole.format(_broken(part)) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def _broken(name: str) -> Markup:
    return escape(name).replace("_", Markup("_<wbr>"))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["kind"] = lambda part: type(part).__name__
    environment.filters["embedded_json"] = _embedded_json
    environment.filters["latex"] = latex_table
    environment.filters["breakable"] = _breakable
    environment.filters["broken"] = _broken
    return environment

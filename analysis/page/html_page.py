"""A page as values, and its rendering as one self-contained HTML file.

Templates, style and script are inlined.
"""

import base64
import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, Self

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.figures.style import Series, every_look
from analysis.wording import in_percent, number, p_value, percent, range_of, signed
from orchestrator.results.storage.printable_text import json_visible

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The head of a column.

    Attributes:
        label: text of the head.
        series: competitor whose marker is put before the label.
        is_number: whether its cells are aligned to the right.
        group: head above those of all neighbouring columns of the same group; "" for none.
    """

    label: str
    series: Series | None = None
    is_number: bool = True
    group: str = ""

    @classmethod
    def texts(cls, *labels: str) -> tuple[Self, ...]:
        """Heads of columns of text."""
        return tuple(cls(label=label, is_number=False) for label in labels)

    @classmethod
    def numbers(cls, *labels: str, group: str = "") -> tuple[Self, ...]:
        """Heads of columns of numbers."""
        return tuple(cls(label=label, group=group) for label in labels)

    @classmethod
    def named(cls, names: Iterable[str], series: Mapping[str, Series]) -> tuple[Self, ...]:
        """Heads of a column of numbers for each competitor."""
        return tuple(cls(label=name, series=series[name]) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: text of the cell.
        detail: a smaller second line.
        series: competitor whose marker is put before the text.
        is_best: whether the cell is bold.
        order: value by which the browser sorts the column; None sorts last. Where the text is a
            number this is the same number in the same unit with all its digits, for CSV.
    """

    text: str
    detail: str = ""
    series: Series | None = None
    is_best: bool = False
    order: float | str | None = None

    @classmethod
    def word(cls, text: str) -> Self:
        """Text that its column is sorted by."""
        return cls(text=text, order=text)

    @classmethod
    def named(cls, name: str, series: Mapping[str, Series]) -> Self:
        """A name after the marker of the competitor; of others, such as a baseline, without."""
        return cls(text=name, series=series.get(name), order=name)

    @classmethod
    def count(cls, count: int) -> Self:
        """A whole number."""
        return cls(text=str(count), order=count)

    @classmethod
    def number(
        cls, value: float | None, digits: int = 2, *, detail: str = "", is_best: bool = False
    ) -> Self:
        """A number as `analysis.wording.number` writes it."""
        return cls(text=number(value, digits), detail=detail, is_best=is_best, order=value)

    @classmethod
    def signed(
        cls, value: float | None, digits: int = 2, *, detail: str = "", is_best: bool = False
    ) -> Self:
        """A number with its sign, as `analysis.wording.signed` writes it."""
        return cls(text=signed(value, digits), detail=detail, is_best=is_best, order=value)

    @classmethod
    def share(cls, share: float | None, digits: int = 2, *, detail: str = "") -> Self:
        """A share of 1 as a number of percent, without the sign of it."""
        return cls.number(in_percent(share), digits, detail=detail)

    @classmethod
    def p_value(cls, p: float | None, *, is_best: bool = False) -> Self:
        """A p-value as `analysis.wording.p_value` writes it."""
        return cls(text=p_value(p), is_best=is_best, order=p)

    @classmethod
    def percent(cls, share: float | None, *, detail: str = "") -> Self:
        """A share of 1, as `analysis.wording.percent` writes it."""
        return cls(text=percent(share), detail=detail, order=share)

    @classmethod
    def interval(cls, low: float | None, high: float | None) -> Self:
        """``1.20 to 3.40``, sorted by its lower end; a dash if an end is unknown."""
        return cls(text=range_of(low, high), order=low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose first column names its rows.

    Attributes:
        name: unique within the page; letters, digits and ``-``.
        caption: what the table shows, over what and how many.
        columns: heads of the columns.
        rows: rows from the top, each with a cell for every column.
        note: sentences shown below the table.
        is_sortable: whether the browser sorts by a column when its head is pressed.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    is_sortable: bool = False

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The upper row of heads, each with how many columns it spans; () if there is none."""
        runs = [
            (group, sum(1 for _ in run))
            for group, run in itertools.groupby(self.columns, key=lambda column: column.group)
        ]
        return tuple(runs) if any(group for group, _ in runs) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Illustration:
    """A figure: one plot or a row of small ones, its caption, and its numbers as a table.

    Attributes:
        name: unique within the page; letters, digits and ``-``.
        plots: plots as SVG.
        caption: what the figure shows.
        table: numbers of the figure; a summary where it has thousands of marks.
        legend: competitors named above the plots.
    """

    name: str
    plots: tuple[Markup, ...]
    caption: str
    table: Table
    legend: tuple[Series, ...] = ()


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
    """Tables, or figures, beside each other where there is room."""

    parts: tuple["Table | Illustration", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Parts shown when ``summary`` is pressed, and on paper."""

    summary: str
    parts: tuple["Part", ...]


Part = Heading | Paragraph | Bullets | Table | Illustration | SideBySide | Fold | Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a page.

    Attributes:
        name: unique within the page; letters, digits and ``-``; the target of links.
        title: heading of the section; "" for the one that opens a page.
        label: its name in the page's contents where that is not the title.
        parts: parts from top to bottom.
        chapter: name of the chapter, which groups neighbouring sections; "" for none.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    label: str = ""
    chapter: str = ""

    @property
    def contents_label(self) -> str:
        """The name of the section in the page's contents."""
        return self.label or self.title


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Neighbouring sections that belong together.

    Attributes:
        label: label in the page's contents; that of the section if there is only one.
        sections: sections from top to bottom.
    """

    label: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link to a page beside this one."""

    href: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page, before it is HTML.

    Attributes:
        title: heading of the page.
        subtitle: line below the heading.
        sections: sections from top to bottom; the first is the answer.
        links: links to pages that belong beside this one.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """Its sections, grouped by neighbouring sections of the same chapter."""
        runs = itertools.groupby(self.sections, key=lambda section: section.chapter)
        groups = [
            group
            for chapter, run in runs
            for group in ([tuple(run)] if chapter else [(section,) for section in run])
        ]
        return tuple(
            Chapter(
                label=group[0].contents_label if len(group) == 1 else group[0].chapter,
                sections=group,
            )
            for group in groups
        )


def render_page(page: Page) -> str:
    """The page as one HTML file; equal pages give equal bytes.

    Every text is escaped unless it is Markup, and control characters are spelt out. The page
    forbids itself any network access.
    """
    script = _text("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    main = fragment("main.html.j2", chapters=page.chapters)
    return json_visible(
        fragment(
            "page.html.j2",
            page=page,
            main=main,
            markers=_markers(main),
            style=Markup(_text("page.css")),
            script=Markup(script),
            script_hash=f"sha256-{digest}",
        )
    )


def fragment(template: str, **values: object) -> Markup:
    """Render ``templates/<template>``, for a part that is not just text and tables.

    Every value is escaped unless it is Markup. A value the template uses but did not get is an
    error.
    """
    return Markup(_environment().get_template(template).render(**values))


def _markers(main: str) -> Markup:
    """The markers that keys of competitors refer to, each drawn once."""
    used = set(re.findall(r'<use href="#(key-\d-\d)"/>', main))
    return fragment("markers.html.j2", looks=[it for it in every_look() if it.key in used])


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


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
    return environment

"""What a reader sees of a page."""

import html
import re

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Bullets, Page, Paragraph, Section, render_page
from podium.analysis.report.report import study_report, table_report
from podium.analysis.report.summary import study_summary
from podium.analysis.study_results.study_results import read_results
from podium.analysis.tournament.table_tournament import rank_table


def text_of(page):
    """The text outside of styles, scripts and drawings, with plain single blanks."""
    body = re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.DOTALL)
    bare = html.unescape(re.sub(r"<[^>]+>", " ", body.replace("<wbr>", "")))
    return re.sub(r"\s+", " ", bare)


def rows_of(page, table):
    """The body of one table: a list of rows, each the texts of its cells."""
    found = re.search(rf'<table id="{table}".*?<tbody>(.*?)</tbody>', page, flags=re.DOTALL)
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", found[1], flags=re.DOTALL)
    cells = [re.findall(r"<t[hd][ >].*?</t[hd]>", row, flags=re.DOTALL) for row in rows]
    return [[text_of(cell).strip() for cell in row] for row in cells]


def section_of(page, name):
    """The HTML of one section."""
    return page[page.index(f'<section id="{name}">') :].partition("</section>")[0]


def study_page(folder, *, protocol=None):
    """The page of a results folder."""
    return render_page(study_report(read_results(folder, protocol)))


def page_of(results, *sections):
    """The page of some sections of a study alone; a whole page has dozens of figures beside."""
    found = (section(results, series_of(results.losses)) for section in sections)
    return render_page(Page(title=results.name, subtitle="", sections=tuple(filter(None, found))))


def answer(results, series):
    """The texts of the summary, as a section."""
    summary = study_summary(results, series)
    texts = (*summary.notices, summary.verdict)
    parts = (*(Paragraph(text=text) for text in texts), Bullets(items=summary.sentences))
    return Section(name="answer", title="", parts=parts)


def table_page(table, *, title, source):
    """The page of a typed table of scores."""
    return render_page(table_report(rank_table(table), title=title, source=source))

"""One plot of several is shown at a time, in a real browser."""

from dataclasses import replace

import pytest

from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.page.html_page import Illustration, Page, Section, render_page
from podium.analysis.page.tables import Cell, Column, Table
from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser

LOSSES = ("arcface", "contrastive", "triplet")


def figure_of(name, losses):
    rows = [IntervalRow(name="x", value=1)]
    plot = intervals_plot(rows, IntervalAxis(label="Rank"), name=name, title="Ranks")
    plots = tuple(replace(plot, name=f"{name}-{loss}", label=loss) for loss in losses)
    rows = ((Cell(text="x"),),)
    table = Table(name=f"{name}-table", caption="", columns=(Column(label="Loss"),), rows=rows)
    return Illustration(name=name, plots=plots, caption=name, table=table, selector="Loss")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    figures = (figure_of("one", LOSSES), figure_of("two", LOSSES[1:]))
    sections = (
        Section(name="first", title="First", parts=figures),
        Section(name="second", title="Second", parts=(figure_of("alone", LOSSES[:1]),)),
    )
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(render_page(Page(title="t", subtitle="", sections=sections)), encoding="utf-8")
    return f"file://{file}"


def shown(visit):
    plots = visit.page.locator(".plot").all()
    return [plot.get_attribute("id") for plot in plots if plot.is_visible()]


def test_the_reader_chooses_for_all_figures_of_the_chapter_and_it_is_drawn(chromium, address):
    visit = Visit(chromium, address, LAPTOP)
    visit.page.wait_for_selector("html[data-drawn]", state="attached")
    of_one, of_two = visit.page.get_by_label("Loss").all()
    assert shown(visit) == ["one-arcface", "two-contrastive", "alone-arcface"]
    assert visit.page.locator("#one-triplet svg").count() == 0

    of_two.select_option("triplet")
    visit.page.wait_for_selector("#one-triplet svg")
    assert shown(visit) == ["one-triplet", "two-triplet", "alone-arcface"]

    of_one.select_option("arcface")  # which the second figure lacks
    assert shown(visit) == ["one-arcface", "two-triplet", "alone-arcface"]
    assert visit.complaints == []


def test_a_permalink_shows_the_plot_it_leads_to(chromium, address):
    visit = Visit(chromium, f"{address}#one-contrastive", LAPTOP)
    assert shown(visit)[0] == "one-contrastive"

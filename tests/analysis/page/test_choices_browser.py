"""One fold or plot of several is shown at a time, in a real browser."""

from dataclasses import replace

import pytest

from analysis.figures.ranking import RankedRow, ranking_plot
from analysis.page.html_page import (
    Cell,
    Choice,
    Column,
    Fold,
    Illustration,
    Page,
    Paragraph,
    Section,
    Table,
    render_page,
)
from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser

LOSSES = ("arcface", "contrastive", "triplet")


def plot_of(name):
    row = RankedRow(name=name, rank_text="1", rank=1, low=None, high=None, score=50, gain=None)
    return ranking_plot([row], [], score="Recall@1, %", last_rank=1, name=name)


def figure_of(name, *plots, **changes):
    table = Table(
        name=f"{name}-table",
        caption="",
        columns=Column.texts("Loss"),
        rows=((Cell(text="x"),),),
    )
    return Illustration(name=name, plots=plots, caption=name, table=table, **changes)


def labelled(loss):
    return replace(plot_of(f"labelled-{loss}"), label=loss)


def fold_of(loss):
    figure = figure_of(f"figure-{loss}", plot_of(f"plot-{loss}"))
    return Fold(summary=loss, parts=(Paragraph(text=f"All about {loss}."), figure))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    choice = Choice(label="Loss", parts=tuple(map(fold_of, LOSSES)))
    figure = figure_of("picture", *map(labelled, LOSSES[1:]), selector="Loss")
    sections = (
        Section(name="one", title="One", parts=(choice, figure)),
        Section(name="two", title="Two", parts=(Choice(label="Loss", parts=(fold_of("other"),)),)),
    )
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(render_page(Page(title="t", subtitle="", sections=sections)), encoding="utf-8")
    return f"file://{file}"


@pytest.fixture
def visit(chromium, address):
    visit = Visit(chromium, address, LAPTOP)
    visit.page.wait_for_selector("html[data-drawn]", state="attached")
    return visit


def shown(visit):
    texts = visit.page.get_by_text("All about").all()
    return [text.inner_text() for text in texts if text.is_visible()]


def test_the_first_is_shown_and_the_reader_chooses_another_which_is_then_drawn(visit):
    select = visit.page.get_by_label("Loss").first
    assert shown(visit) == ["All about arcface.", "All about other."]
    assert visit.page.locator("#plot-triplet svg").count() == 0

    select.select_option("triplet")

    visit.page.wait_for_selector("#plot-triplet svg")
    assert shown(visit) == ["All about triplet.", "All about other."]
    assert visit.complaints == []


def test_selectors_of_the_same_in_a_chapter_agree(visit):
    of_folds, of_figure = visit.page.get_by_label("Loss").all()
    of_figure.select_option("triplet")
    assert of_folds.input_value() == "triplet"

    of_folds.select_option("arcface")  # which the figure lacks
    assert of_figure.input_value() == "triplet"


def test_a_permalink_shows_the_fold_it_leads_into(chromium, address):
    visit = Visit(chromium, f"{address}#figure-contrastive", LAPTOP)
    assert shown(visit) == ["All about contrastive.", "All about other."]

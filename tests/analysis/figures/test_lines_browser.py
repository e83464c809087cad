"""Lines and points as a browser draws them, on a phone and a laptop."""

import pytest

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot
from podium.analysis.figures.scatter import Point, scatter_plot
from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Illustration, Page, Section, render_page
from podium.analysis.page.tables import Column, Table
from tests.analysis.figure_flaws import FLAWS
from tests.browser import LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser

_SCORE = Axis(label="Recall@1, %")
_WORDS = {"title": "Title"}
_MANY = 46


def curves(names):
    plot = lines_plot(
        [
            Line(
                name=name,
                xs=range(1, 11),
                ys=[50 + rank + epoch for epoch in range(10)],
                lows=[49 + rank + epoch for epoch in range(10)],
                highs=[51 + rank + epoch for epoch in range(10)],
                dots=((2, 40.0, "pruned"), (3, None, "failed")),
            )
            for rank, name in enumerate(names)
        ],
        x=Axis(label="Epoch", digits=0),
        y=_SCORE,
        name="curves",
        label="latin",
        band="range of 3 seeds",
        **_WORDS,
    )
    other = lines_plot([], x=Axis(label="Epoch"), y=_SCORE, name="other", label="greek", **_WORDS)
    return plot, other


def ranks(names):
    count = len(names)
    return lines_plot(
        [
            Line(name=name, xs=(0, 1), ys=(rank + 1, count - rank))
            for rank, name in enumerate(names)
        ],
        x=Axis.of_categories("K", ("1", "10")),
        y=Axis(label="Rank", limits=(count + 0.5, 0.5)),
        name="ranks",
        has_points=True,
        **_WORDS,
    )


def costs(names):
    return scatter_plot(
        [
            Point(name=name, label=name, x=0.125 * 1.2**rank, y=50.0 + rank, low=49.0, high=60.0)
            for rank, name in enumerate(names)
        ],
        x=Axis(label="GPU-hours", scale="log"),
        y=_SCORE,
        name="costs",
        front=((0.125, 50.0), (0.25, 51.0)),
        **_WORDS,
    )


def figure(name, *plots, selector=""):
    table = Table(name=f"{name}-table", caption="Numbers", columns=(Column(label="a"),), rows=())
    return Illustration(name=name, plots=plots, caption="Caption.", table=table, selector=selector)


@pytest.fixture(scope="module", params=[5, _MANY], ids=["few", "many"])
def address(request, tmp_path_factory):
    names = [f"{'long_' * (rank % 4)}loss_{rank:02d}" for rank in range(request.param)]
    parts = (
        figure("learning", *curves(names), selector="Block"),
        figure("bump", ranks(names)),
        figure("pareto", costs(names)),
    )
    page = Page(
        title="Page",
        subtitle="",
        sections=(Section(name="all", title="All", parts=parts),),
        series=tuple(series_of(names, ranked=names).values()),
    )
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render_page(page), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module", params=[PHONE, LAPTOP], ids=["phone", "laptop"])
def visit(request, address, chromium):
    found = Visit(chromium, address, request.param)
    found.open_all()
    found.page.wait_for_selector("html[data-drawn]", state="attached")
    yield found
    found.context.close()


def test_all_texts_are_inside_apart_and_large_enough(visit):
    assert visit.run(FLAWS) == []
    assert visit.complaints == []


def test_pointing_at_a_line_says_its_value_and_fades_the_others(visit):
    line = visit.page.locator("#curves [aria-label=line] path").last
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 1)

    text = visit.page.locator("#curves [aria-label=tip]").text_content()
    assert "Epoch: 10" in text
    assert "Recall@1, %: " in text
    assert "range of 3 seeds: " in text
    assert visit.page.locator("#curves [aria-label=line] path[style*='0.2']").count() > 0


def test_pressing_a_name_highlights_it_everywhere(visit):
    visit.page.locator("#ranks text[data-competitor=loss_00]").first.click()
    faded = visit.page.locator("#curves [aria-label=line] path[data-competitor=long_loss_01]")

    assert faded.evaluate("it => getComputedStyle(it).opacity") == "0.15"


def test_the_selector_shows_the_plots_of_one_label(visit):
    assert visit.page.locator("#curves").is_visible()
    visit.page.get_by_label("Block").select_option("greek")

    assert not visit.page.locator("#curves").is_visible()
    assert visit.page.locator("#other").is_visible()

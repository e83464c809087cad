"""Kinds of plots in a browser: they fit their boxes, say what they show, and are highlighted."""

import re

import pytest

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.critical_difference import critical_difference_plot
from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.lines import Line, lines_plot
from podium.analysis.figures.scatter import Point, scatter_plot
from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Illustration, Page, Section, render_page
from podium.analysis.page.tables import Cell, Column, Table
from tests.analysis.figure_flaws import FLAWS
from tests.browser import LAPTOP, PHONE, Visit, every_size_and_scheme

pytestmark = pytest.mark.browser

_SCORE = Axis(label="Recall@1, %")
_WORDS = {"title": "Title"}


def names(count):
    stems = (
        "ArcFace",
        "Multi-similarity+threshold_consistent_margin",
        "Contrastive",
        "Proxy anchor",
        "SoftTriple",
    )
    return [f"{stems[i % 5]} {i}" for i in range(count)]


def ranks(count):
    looks = series_of(names(count), ranked=names(count))
    rows = [
        IntervalRow(
            name=name,
            series=looks[name],
            value=1 + i,
            low=max(1, i - 0.5),
            high=min(count, i + 3),
            columns=(f"{i} %", "99 %"),
        )
        for i, name in enumerate(names(count))
    ]
    return intervals_plot(
        rows,
        IntervalAxis(label="Rank", value="average rank", heads=("P(first)", "P(top 3)")),
        name=f"ranks-{count}",
        title="Ranks",
    )


def groups():
    rows = [
        IntervalRow(
            name=name,
            group=f"cub200/resnet50/{dimension}",
            series=series_of(names(5))[name],
            value=60 + i,
            low=58 + i,
            high=61 + i,
            dots=(58.5 + i, 60.5 + i),
        )
        for dimension in (64, 512)
        for i, name in enumerate(names(5))
    ]
    return intervals_plot(
        rows,
        IntervalAxis(
            label="Score, %",
            value="mean",
            dots="seeds",
            region=(60, 61),
            region_label="practically equivalent",
        ),
        name="groups",
        title="Scores",
    )


def bars():
    rows = [
        IntervalRow(name=name, value=1.0 + i, low=0.5, high=None if i else 2)
        for i, name in enumerate(("Class", "Seed"))
    ]
    return intervals_plot(
        rows,
        IntervalAxis(label="Points", value="standard deviation", reference=0),
        name="bars",
        title="Components",
        is_bars=True,
    )


def diagram(count):
    groups = [names(count)[i : i + 3] for i in range(count - 2)]
    return critical_difference_plot(
        [(name, 1.2 + 0.95 * i) for i, name in enumerate(names(count))],
        [*groups, [names(count)[0], names(count)[-1]]],
        critical_difference=count / 3,
        name=f"cd-{count}",
    )


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
        (Axis(label="Epoch", digits=0), _SCORE),
        name=f"curves-{len(names)}",
        label="latin",
        band="range of 3 seeds",
        **_WORDS,
    )
    other = lines_plot(
        [], (Axis(label="Epoch"), _SCORE), name=f"other-{len(names)}", label="greek", **_WORDS
    )
    return plot, other


def bump(names):
    count = len(names)
    return lines_plot(
        [
            Line(name=name, xs=(0, 1), ys=(rank + 1, count - rank))
            for rank, name in enumerate(names)
        ],
        (
            Axis.of_categories("K", ("1", "10")),
            Axis(label="Rank", limits=(count + 0.5, 0.5)),
        ),
        name=f"bump-{len(names)}",
        style="points",
        **_WORDS,
    )


def costs(names):
    return scatter_plot(
        [
            Point(name=name, label=name, x=0.125 * 1.2**rank, y=50.0 + rank, low=49.0, high=60.0)
            for rank, name in enumerate(names)
        ],
        (Axis(label="GPU-hours", scale="log"), _SCORE),
        name=f"costs-{len(names)}",
        front=((0.125, 50.0), (0.25, 51.0)),
        **_WORDS,
    )


def page_of(*figures):
    table = (Column(label="a"),), ((Cell(text="1"),),)
    sections = tuple(
        Section(
            name=f"s-{plot.name}",
            title=plot.name,
            parts=(
                Illustration(
                    name=f"f-{plot.name}",
                    plots=(plot, *others),
                    selector="Block" if others else "",
                    caption="Caption.",
                    table=Table(
                        name=f"t-{plot.name}", caption="T", columns=table[0], rows=table[1]
                    ),
                ),
            ),
        )
        for plot, *others in figures
    )
    looks = tuple(series_of(names(46), ranked=names(46)).values())
    return Page(title="Plots", subtitle="of every kind", sections=sections, series=looks)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("plots") / "page.html"
    plots = [*(kind(count) for kind in (ranks, diagram) for count in (5, 46)), groups(), bars()]
    plots += [kind(names(count)) for kind in (bump, costs) for count in (5, 46)]
    page = page_of(*((plot,) for plot in plots), *(curves(names(count)) for count in (5, 46)))
    path.write_text(render_page(page), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(chromium, address):
    opened = []

    def open_at(size, scheme="light"):
        opened.append(Visit(chromium, address, size, scheme))
        opened[-1].open_all()
        opened[-1].page.wait_for_selector("html[data-drawn]", state="attached")
        return opened[-1]

    yield open_at
    for one in opened:
        one.context.close()


@every_size_and_scheme
def test_texts_of_plots_are_whole_apart_and_readable_at_any_width(visit, size, scheme):
    found = visit(size, scheme)
    assert found.run(FLAWS) == []
    assert found.complaints == []
    assert found.run("document.querySelectorAll('.plot > svg').length") == 12


def tip(found, plot, at):
    """The text shown when a point of a plot, in shares of its box, is pointed at."""
    svg = found.page.locator(f"#{plot} > svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    found.page.mouse.move(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])
    found.page.wait_for_selector(f"#{plot} [aria-label=tip] text")
    parts = found.page.locator(f"#{plot} [aria-label=tip] tspan").all_text_contents()
    return re.sub(r"[\s\u200b]+", " ", " ".join(parts))


def test_pointing_at_a_row_says_its_value_interval_and_columns(visit):
    text = tip(visit(LAPTOP), "ranks-5", (0.5, 0.27))
    assert "ArcFace 0 average rank: 1.00 (95 % interval 1.00 to 3.00)" in text
    assert "P(first): 0 % P(top 3): 99 %" in text


def test_pointing_at_dots_says_each_of_them(visit):
    assert "seeds 58.50, 60.50" in tip(visit(PHONE), "groups", (0.5, 0.17))


def test_pointing_at_a_line_of_the_diagram_says_whom_it_does_not_differ_from(visit):
    text = tip(visit(LAPTOP), "cd-5", (0.4, 0.36))
    assert "ArcFace 0 average rank 1.20 not significantly different from Multi-" in text
    assert "SoftTriple 4 (Nemenyi)" in text
    assert "Proxy anchor 3" not in text


def test_pressing_a_competitor_fades_the_others_in_every_plot(visit):
    found = visit(LAPTOP)
    found.page.locator("#cd-5 [data-competitor='ArcFace 0']").first.click(force=True)
    opacity = "getComputedStyle(document.querySelector(`#ranks-5 [data-competitor='%s']`)).opacity"
    assert found.run(opacity % "ArcFace 0") == "1"
    assert found.run(opacity % "SoftTriple 4") == "0.15"


def test_pointing_at_a_line_says_its_value_and_fades_the_others(visit):
    found = visit(LAPTOP)
    line = found.page.locator("#curves-5 [aria-label=line] path").last
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    found.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 1)

    text = found.page.locator("#curves-5 [aria-label=tip]").text_content()
    assert "Epoch: 10" in text
    assert "Recall@1, %: " in text
    assert "range of 3 seeds: " in text
    assert found.page.locator("#curves-5 [aria-label=line] path[style*='0.2']").count() > 0


def test_the_selector_shows_the_plots_of_one_label(visit):
    found = visit(PHONE)
    assert found.page.locator("#curves-5").is_visible()
    found.page.get_by_label("Block").first.select_option("greek")

    assert not found.page.locator("#curves-5").is_visible()
    assert found.page.locator("#other-5").is_visible()

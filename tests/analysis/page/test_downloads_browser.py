"""Figures come down as SVG that stands by itself, and as PNG."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Illustration, Page, Section, render_page
from podium.analysis.page.tables import Column, Table
from tests.browser import LAPTOP, Visit

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("proxy_anchor", "margin <b>", "Δ-потеря ≤ λ ± é")


def ranking(name, label):
    rows = [
        {"name": it, "rank_text": str(at), "rank": at, "score": 60 - at, "gain": 2 - 2 * at}
        for at, it in enumerate(NAMES, 1)
    ]
    values = {"rows": rows, "score": "Recall@1, %", "gain": "Gain of tuning", "last": 3}
    return Plot(kind="ranking", name=name, title="Ranks", values=values, label=label)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    table = Table(name="t", caption="c", columns=(Column(label="x"),), rows=())
    figures = tuple(
        Illustration(
            name=name,
            plots=tuple(ranking(f"{name}-{i}", label) for i, label in enumerate(labels)),
            caption="A caption",
            table=Table(name=f"{name}-t", caption="c", columns=table.columns, rows=()),
        )
        for name, labels in (("one", [""]), ("two", ["block a", "block b"]))
    )
    page = Page(
        title="t",
        subtitle="s",
        sections=(Section(name="s", title="S", parts=figures),),
        series=tuple(series_of(NAMES).values()),
    )
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render_page(page), encoding="utf-8")
    return path.as_uri()


def visited(chromium, address, scheme="light"):
    visit = Visit(chromium, address, LAPTOP, scheme, accept_downloads=True)
    visit.page.wait_for_selector("html[data-drawn]", state="attached")
    return visit


def saved(visit, figure, kind):
    with visit.page.expect_download() as waiting:
        visit.page.locator(f"#{figure} > .tools").get_by_role("button", name=kind).click()
    assert waiting.value.suggested_filename == f"{figure}.{kind.lower()}"
    return waiting.value.path().read_bytes()


def texts_of(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.text]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_svg_needs_nothing_of_the_page(chromium, address, scheme):
    visit = visited(chromium, address, scheme)
    svg = saved(visit, "one", "SVG")

    assert {"59.00", "−2.00", "Recall@1, %", "2  margin <b>"} <= set(texts_of(svg))
    assert not re.search(r"var\(|color-mix|class=|<style|<script|href|oklab", svg.decode())
    assert b"rgb(0, 115, 79)" in svg  # a gain, in the colour of paper whatever the theme
    assert visit.complaints == []


def test_an_svg_looks_as_in_the_page(chromium, address, tmp_path):
    visit = visited(chromium, address)
    # Fonts differ, and the page is not quite white.
    visit.page.add_style_tag(content=":root { --paper: #fff; } svg text { visibility: hidden; }")
    (tmp_path / "one.svg").write_bytes(saved(visit, "one", "SVG"))
    place = visit.page.locator("#one .plot > svg").bounding_box()
    shown = pixels(visit.page, x=place["x"], y=place["y"], size=(place["width"], place["height"]))
    alone = Visit(chromium, (tmp_path / "one.svg").as_uri(), LAPTOP)
    drawn = pixels(alone.page, x=4, y=4, size=(place["width"], place["height"]))

    assert shown.std() > 5  # something is drawn
    assert np.abs(shown - drawn).mean() < 1


def pixels(page, *, x, y, size):
    width, height = map(int, size)
    clip = {"x": x, "y": y, "width": width, "height": height}
    picture = Image.open(io.BytesIO(page.screenshot(clip=clip)))
    return np.asarray(picture.convert("RGB"), dtype=float)


def test_plots_beside_each_other_come_down_together_with_their_labels(chromium, address):
    texts = texts_of(saved(visited(chromium, address), "two", "SVG"))

    assert texts.count("block a") == texts.count("block b") == 1
    assert texts.count("59.00") == 2


def test_a_png_is_the_figure_on_white_three_times_as_large(chromium, address):
    visit = visited(chromium, address, "dark")
    svg = ElementTree.fromstring(saved(visit, "two", "SVG"))
    picture = Image.open(io.BytesIO(saved(visit, "two", "PNG"))).convert("RGB")

    assert picture.size == tuple(3 * int(svg.get(side)) for side in ("width", "height"))
    assert picture.getpixel((0, 0)) == (255, 255, 255)
    assert np.asarray(picture, dtype=float).std() > 5  # something is drawn
    assert visit.complaints == []

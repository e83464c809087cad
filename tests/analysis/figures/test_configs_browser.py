"""Slices, parallel coordinates and response maps as a reader sees them, in a real browser."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.figures.parallel import parallel_plot
from analysis.figures.response_map import response_map_plot
from analysis.figures.series import series_of
from analysis.figures.slices import slice_plot
from analysis.hyperparameters.best_regions import best_regions
from analysis.hyperparameters.pooled_configs import pooled_configs
from analysis.hyperparameters.response_curves import response_curves, response_grid
from analysis.hyperparameters.search_configs import PublishedDefault
from analysis.hyperparameters.searched_ranges import SearchedRange
from analysis.page.html_page import Cell, Column, Illustration, Page, Section, Table, render_page
from tests.analysis.planted_searches import planted_search
from tests.browser import LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser

RANGES = {
    "learning_rate": SearchedRange(name="learning_rate", low=1e-5, high=0.1, log=True),
    "miner": SearchedRange(
        name="miner", low=0, high=2, values=("random", "semi_hard", "distance_weighted")
    ),
    "proxy_learning_rate_factor": SearchedRange(
        name="proxy_learning_rate_factor", low=1, high=1000, log=True
    ),
    "epochs": SearchedRange(name="epochs", low=1, high=9, step=1, is_whole=True, unit="epochs"),
}
DEFAULT = PublishedDefault(
    positions={"learning_rate": 0.5, "miner": 1, "proxy_learning_rate_factor": 1.4, "epochs": 0.5},
    score=0.5,
)


LEGEND = tuple(series_of(["loss", "other"]).values())


def pooled():
    def gain(positions):
        return 0.5 + 0.1 * positions["learning_rate"] + 0.05 * (positions["miner"] == 1)

    generator = np.random.default_rng(0)
    searches = [
        planted_search(generator, gain, num=90, noise=0.01, ranges=RANGES, block=f"glyphs/{name}")
        for name in "ab"
    ]
    return pooled_configs([replace(search, default=DEFAULT) for search in searches])["loss"]


def figure(name, *plots):
    table = Table(
        name=f"{name}-table", caption="", columns=Column.texts("x"), rows=((Cell(text="x"),),)
    )
    return Illustration(name=name, plots=plots, caption=name, table=table, legend=LEGEND)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    configs = pooled()
    shown = np.arange(configs.num_configs)
    regions = {region.hyperparameter: region for region in best_regions(configs)}
    gain_range = (-10.0, 15.0)
    slices = [
        slice_plot(
            response_curves(configs, [name])[0],
            configs,
            shown,
            gain_range=gain_range,
            region=regions[name],
            name=f"slice-{name}",
        )
        for name in RANGES
    ]
    parallel = parallel_plot(configs, list(RANGES), shown, gain_range=gain_range, name="lines")
    maps = [
        response_map_plot(response_grid(configs, x, y), configs, shown, name=f"map-{x}")
        for x, y in (("learning_rate", "miner"), ("miner", "epochs"))
    ]
    parts = (figure("slices", *slices), figure("parallel", parallel), figure("maps", *maps))
    page = Page(
        title="t",
        subtitle="",
        sections=(Section(name="one", title="One", parts=parts),),
        series=LEGEND,
    )
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(render_page(page), encoding="utf-8")
    return f"file://{file}"


def visit_to(chromium, address, size):
    visit = Visit(chromium, address, size)
    visit.page.wait_for_selector("html[data-drawn]", state="attached")
    return visit


TEXTS = """() => [...document.querySelectorAll(".plot > svg")].flatMap((svg) => {
  const box = svg.parentElement.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => text.textContent).map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const isInside = left >= box.left - 1 && right <= box.right + 1
      && top >= box.top - 1 && bottom <= box.bottom + 1;
    return [text.textContent, isInside, parseFloat(getComputedStyle(text).fontSize)];
  });
})"""


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
def test_texts_are_large_enough_and_lie_within_their_plots(chromium, address, size):
    visit = visit_to(chromium, address, size)
    texts = visit.run(TEXTS)

    assert [text for text, is_inside, _ in texts if not is_inside] == []
    assert min(font for _, _, font in texts) >= 11
    assert {"learning_rate", "miner", "epochs", "0.1"} <= {text for text, _, _ in texts}
    assert visit.complaints == []


def point_at(visit, plot, across, down):
    box = visit.page.locator(f"#{plot}")
    box.scroll_into_view_if_needed()
    place = box.bounding_box()
    visit.page.mouse.move(
        place["x"] + across * place["width"], place["y"] + down * place["height"]
    )
    tip = visit.page.locator(f"#{plot} [aria-label=tip] text")
    tip.wait_for()
    return tip.text_content()


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
def test_pointing_at_a_line_says_its_values_and_brings_it_forward(chromium, address, size):
    visit = visit_to(chromium, address, size)
    text = point_at(visit, "lines", 0.5, 0.5)

    assert " points" in text
    for name in RANGES:
        assert name in text
    assert " epochs" in text
    widths = visit.run(
        "[...document.querySelectorAll('#lines [data-line]')].map((it) => it.style.strokeWidth)"
    )
    assert len(widths) == 181  # the published default too
    assert widths.count("3") == 1


def test_a_cell_of_the_map_and_a_dot_of_a_slice_say_what_they_are(chromium, address):
    visit = visit_to(chromium, address, LAPTOP)

    assert " points" in point_at(visit, "map-learning_rate", 0.5, 0.5)
    assert "learning_rate" in point_at(visit, "slice-learning_rate", 0.6, 0.4)


def test_pressing_a_curve_highlights_its_loss(chromium, address):
    visit = visit_to(chromium, address, LAPTOP)
    visit.page.locator("#slice-miner [data-competitor=loss]").first.click(force=True)

    button = visit.page.locator("#slices button[data-competitor=loss]")
    assert button.get_attribute("aria-pressed") == "true"

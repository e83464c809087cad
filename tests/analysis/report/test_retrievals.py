"""The section of retrieved images: what it shows, and that it stays small."""

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from analysis.figures.series import series_of
from analysis.page.html_page import Page, render_page
from analysis.report import retrieved_blocks
from analysis.report.image_sheets import ImageSheets, opened_png, thumbnail
from analysis.report.retrievals import retrievals
from analysis.report.shown_queries import shown_queries
from analysis.study_results.retrieved_images import (
    confused_pairs,
    query_orders,
    retrieved_by_embeddings,
)
from tests.analysis.browsed_store import (
    image_of,
    photographs,
    read_browsed,
    squares,
    write_browsed_store,
)
from tests.analysis.changed_results import with_views
from tests.analysis.page_text import page_of, rows_of, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

BLOCKS = ["glyphs-greek/conv_small/16", "glyphs-latin/conv_small/16"]
ALL = 42  # queries of a block


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_browsed_store(tmp_path_factory.mktemp("browsed") / "study")


@pytest.fixture(scope="module")
def page(folder):
    return page_of(read_browsed(folder, images=squares), retrievals)


def records_of(page):
    found = re.search(
        r'id="retrieval".*?<script type="application/json">(.*?)</script>', page, re.S
    )
    return json.loads(found[1])


def section_of(results):
    return retrievals(results, series_of(results.losses))


def test_all_queries_of_a_small_test_are_in_the_page(page):
    records = records_of(page)

    assert [record["name"] for record in records] == BLOCKS
    assert [len(record["queries"]) for record in records] == [ALL, ALL]
    assert "The page has 84 of 84 queries of the test." in text_of(page)


def test_neighbours_in_the_page_are_those_of_the_embeddings(folder, page):
    results = read_browsed(folder)
    for record in records_of(page):
        retrieved = retrieved_by_embeddings(results, record["name"], most_products=1e12)[0]
        names = [retrieved.class_names[label] for label in retrieved.labels_N]
        in_page = [record["classes"][number] for number in record["images"]]
        for place, neighbours in enumerate(record["neighbours"]):
            assert in_page[record["queries"][place]] == names[retrieved.queries_Q[place]]
            for loss, row in enumerate(neighbours):
                expected = retrieved.neighbours_LQK[loss, place]
                assert [in_page[image] for image in row] == [names[image] for image in expected]
        similarities = np.array(record["similarities"]).transpose(1, 0, 2) / 100
        assert np.abs(similarities - retrieved.similarities_LQK).max() <= 0.0051


def test_each_image_is_once_on_a_sheet_where_its_place_says(folder):
    block = next(retrieved_blocks.retrieved_blocks(read_browsed(folder, images=squares)))
    images = block.shown.images

    assert sorted(images) == list(range(ALL))
    for place, image in enumerate(images):
        sheet, left, upper = block.sheets.cell_of(place)
        whole = Image.open(io.BytesIO(block.sheets.sheets[sheet].content)).convert("L")
        cell = whole.crop((left, upper, left + 32, upper + 32))
        assert np.array_equal(np.asarray(cell), np.asarray(image_of(image + 100)))


def test_without_a_script_the_first_queries_sampled_are_shown_and_marked(page):
    record = records_of(page)[0]
    body = page.partition("<template>")[0]
    cards = body.split('<li class="card">')[1:]

    assert len(cards) == 4
    for card, place in zip(cards, record["orders"]["sampled"], strict=False):
        own = record["images"][record["queries"][place]]
        assert f'aria-label="query: {record["classes"][own]}"' in card
        kinds = re.findall(r'class="tile (hit|miss)"', card)
        right = [record["images"][it] == own for row in record["neighbours"][place] for it in row]
        assert kinds == ["hit" if it else "miss" for it in right]
        assert card.count(">✓ ") == right.count(True)
        assert card.count(">✗ ") == right.count(False)


def test_confused_pairs_are_a_table_of_shares(folder, page):
    retrieved = retrieved_by_embeddings(read_browsed(folder), BLOCKS[0], most_products=1e12)[0]
    first = confused_pairs(retrieved, 1)[0]
    row = rows_of(page, "confused-0")[0]

    assert row[0] == f"{first.class_name} → {first.nearest}"
    share, count = row[1].split(" ", 1)
    assert float(share) == pytest.approx(100 * first.counts[0] / 6, abs=0.05)
    assert count == f"{first.counts[0]} of 6"
    assert records_of(page)[0]["pairs"][0] == [first.class_name, first.nearest]


def test_the_same_results_and_images_give_the_same_bytes(folder, page):
    assert page_of(read_browsed(folder, images=squares), retrievals) == page


def test_images_of_another_test_are_not_shown(folder):
    other = page_of(read_browsed(folder, images=lambda label, test_hash: None), retrievals)
    without = page_of(read_browsed(folder), retrievals)

    assert other == without
    assert [len(record["queries"]) for record in records_of(without)] == [4, 4]
    assert "The page has 8 of 84 queries of the test." in text_of(without)
    assert len(rows_of(without, "confused-0")) > 3  # counted over all queries all the same


def test_photographs_fill_the_page_up_to_its_budget_and_no_further(folder, monkeypatch):
    budget = 60_000
    monkeypatch.setattr(retrieved_blocks, "MOST_BYTES", budget)
    section = section_of(read_browsed(folder, images=photographs))
    browser = str(section.parts[1])
    shown = [len(record["queries"]) for record in records_of(browser)]
    sheets = re.findall(r'href="data:image/webp;base64,([^"]+)"', browser)
    script = len(json.dumps(records_of(browser), separators=(",", ":")))

    assert 0.5 * budget < sum(map(len, sheets)) + script < 1.1 * budget
    assert all(0 < number < ALL for number in shown)
    assert f"The page has {sum(shown)} of 84 queries" in section.parts[2].text


def test_the_time_of_searches_is_shared_by_blocks_and_losses(folder, monkeypatch):
    a_query = 8 * ALL  # multiplications of one loss
    monkeypatch.setattr(retrieved_blocks, "_MOST_PRODUCTS", 2 * 2 * 10 * a_query)
    html = page_of(read_browsed(folder, images=squares), retrievals)

    assert [len(record["queries"]) for record in records_of(html)] == [10, 10]
    assert "10 of 42 queries searched" in text_of(html)


def test_every_order_and_the_most_confused_pairs_get_a_share_of_the_room(folder):
    results = read_browsed(folder)
    retrieved = retrieved_by_embeddings(results, BLOCKS[0], most_products=1e12)[0]
    pairs = confused_pairs(retrieved, 2)
    shown = shown_queries(retrieved, pairs, bytes_of_image=0, bytes_of_query=1, most_bytes=12)
    queries = [shown.queries[place] for order in shown.orders.values() for place in order]

    assert len(shown.queries) == 12
    assert set(queries) <= set(range(ALL))
    for name, order in query_orders(retrieved).items():
        first = [shown.queries[place] for place in shown.orders[name]]
        assert first == order.tolist()[: len(first)]
        assert first
    labels, nearest = retrieved.labels_N[retrieved.queries_Q], retrieved.neighbours_LQK[:, :, 0]
    for pair in pairs:
        names = retrieved.class_names
        assert any(
            names[labels[query]] == pair.class_name
            and pair.nearest in [names[it] for it in retrieved.labels_N[nearest[:, query]]]
            for query in shown.queries
        )


def test_images_beside_the_page_are_files_and_all_queries_are_in_it(folder, monkeypatch):
    monkeypatch.setattr(retrieved_blocks, "MOST_BYTES", 60_000)
    section = section_of(read_browsed(folder, images=photographs, beside=True))
    html = render_page(Page(title="t", subtitle="", sections=(section,)))

    assert [len(record["queries"]) for record in records_of(html)] == [ALL, ALL]
    assert "data:image/webp" not in html
    assert "img-src data: &#39;self&#39;" in html or "img-src data: 'self'" in html
    for name, content in section.files.items():
        assert f'href="{name}"' in html
        assert Image.open(io.BytesIO(content)).format == "WEBP"


def test_a_page_that_holds_its_images_loads_no_file(page):
    assert "img-src data:;" in page


def test_label_distances_have_no_errors(folder):
    results = with_views(read_browsed(folder, images=squares), objective="ndcg")
    html = page_of(results, retrievals)
    (first, _) = records_of(html)

    assert list(first["orders"]) == ["sampled"]
    assert "✗ 0" not in html
    assert 'class="tile found"' in html
    assert 'id="confused-0"' not in html


def test_a_study_without_pictures_says_so(tmp_path):
    truth = Truth(scripts=("greek",), embedding_dims=(16,), search_trials=3, seeds=1)
    store = write_store(tmp_path / "s", truth, stages=("search",))

    assert "No images were stored." in text_of(page_of(read_browsed(store), retrievals))


def test_grey_images_keep_every_pixel_and_colours_are_small():
    grey = ImageSheets.of([thumbnail(image_of(3)), None])
    colour = ImageSheets.of([thumbnail(photographs("", "")(3))])
    found = np.asarray(Image.open(io.BytesIO(grey.sheets[0].content)).convert("L"))

    assert np.array_equal(found[:, :32], np.asarray(image_of(3)))
    assert not found[:, 32:].any()
    assert (colour.cell, colour.num_bytes < 5000) == (64, True)


def test_what_is_no_picture_is_left_black():
    assert opened_png(b"\x89PNG\r\n\x1a\n nothing") is None
    assert opened_png(b"") is None


def test_a_sheet_is_written_into_the_page_whole(page):
    uri = re.search(r'href="data:image/webp;base64,([^"]+)"', page)[1]

    assert Image.open(io.BytesIO(base64.b64decode(uri))).size == (512, 96)

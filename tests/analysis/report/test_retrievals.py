"""The section of retrieved images: what it shows, and that it stays small."""

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from podium.analysis.report import images as module
from podium.analysis.report.images import opened_png, retrievals, thumbnail
from podium.analysis.study_results.retrieved_images import query_orders, retrieved_by_embeddings
from tests.analysis.browsed_store import (
    image_of,
    photographs,
    read_browsed,
    squares,
    write_browsed_store,
)
from tests.analysis.changed_results import with_views
from tests.analysis.page_text import page_of, text_of

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


def decoded(content):
    return Image.open(io.BytesIO(base64.b64decode(content)))


def test_all_queries_of_a_small_test_are_in_the_page(page):
    records = records_of(page)

    assert [record["name"] for record in records] == BLOCKS
    assert [len(record["queries"]) for record in records] == [ALL, ALL]
    assert "The page has 84 of 84 queries of the test." in text_of(page)
    assert "img-src data:;" in page


def test_neighbours_in_the_page_are_those_of_the_embeddings(folder, page):
    results = read_browsed(folder)
    for record in records_of(page):
        retrieved = retrieved_by_embeddings(results, record["name"], most_products=1e12)[0]
        names = [retrieved.class_names[label] for label in retrieved.labels_N]
        in_page = [record["classes"][number] for number, _ in record["images"]]
        for place, neighbours in enumerate(record["neighbours"]):
            assert in_page[record["queries"][place]] == names[retrieved.queries_Q[place]]
            for loss, row in enumerate(neighbours):
                expected = retrieved.neighbours_LQK[loss, place]
                assert [in_page[image] for image in row] == [names[image] for image in expected]
        similarities = np.array(record["similarities"]).transpose(1, 0, 2) / 100
        assert np.abs(similarities - retrieved.similarities_LQK).max() <= 0.0051


def test_each_query_has_its_own_image(folder, page):
    record = records_of(page)[0]
    found = retrieved_by_embeddings(read_browsed(folder), BLOCKS[0], most_products=1e12)[0]

    assert len(record["images"]) == ALL
    for place, image in zip(record["queries"], found.queries_Q.tolist(), strict=True):
        pixels = np.asarray(decoded(record["images"][place][1]).convert("L"))
        assert np.array_equal(pixels, np.asarray(image_of(image + 100)))


def test_images_of_another_test_are_not_shown(folder):
    other = page_of(read_browsed(folder, images=lambda label, test_hash: None), retrievals)
    without = page_of(read_browsed(folder), retrievals)

    assert other == without
    assert [len(record["queries"]) for record in records_of(without)] == [4, 4]
    assert "The page has 8 of 8 queries of the test." in text_of(without)


def test_photographs_fill_the_page_up_to_its_budget_and_no_further(folder, monkeypatch):
    budget = 160_000
    monkeypatch.setattr(module, "MOST_BYTES", budget)
    html = page_of(read_browsed(folder, images=photographs), retrievals)
    records = records_of(html)
    shown = [len(record["queries"]) for record in records]

    assert 0.5 * budget < len(json.dumps(records, separators=(",", ":"))) < 1.1 * budget
    assert all(0 < number < ALL for number in shown)
    assert f"The page has {sum(shown)} of 84 queries" in text_of(html)
    retrieved = retrieved_by_embeddings(read_browsed(folder), BLOCKS[0], most_products=1e12)[0]
    names = [retrieved.class_names[retrieved.labels_N[it]] for it in retrieved.queries_Q]
    for name, order in query_orders(retrieved).items():  # each has a share of the room
        places = records[0]["orders"][name]
        classes = [
            records[0]["classes"][records[0]["images"][records[0]["queries"][it]][0]]
            for it in places
        ]
        assert classes
        assert classes == [names[query] for query in order[: len(classes)]]


def test_the_time_of_searches_is_shared_by_blocks_and_losses(folder, monkeypatch):
    a_query = 8 * ALL  # multiplications of one loss
    monkeypatch.setattr(module, "_MOST_PRODUCTS", 2 * 2 * 10 * a_query)
    html = page_of(read_browsed(folder, images=squares), retrievals)

    assert [len(record["queries"]) for record in records_of(html)] == [10, 10]
    assert "The page has 20 of 84 queries" in text_of(html)


def test_label_distances_have_no_errors(folder):
    results = with_views(read_browsed(folder, images=squares), objective="ndcg")
    (first, _) = records_of(page_of(results, retrievals))

    assert list(first["orders"]) == ["sampled"]
    assert first["byClass"] is False


def test_grey_images_keep_every_pixel_and_colours_are_small():
    grey, colour = decoded(thumbnail(image_of(3))), thumbnail(photographs("", "")(3))

    assert np.array_equal(np.asarray(grey.convert("L")), np.asarray(image_of(3)))
    assert (decoded(colour).size, len(colour) < 7000) == ((64, 43), True)


def test_what_is_no_picture_is_black():
    assert opened_png(b"\x89PNG\r\n\x1a\n nothing") is None
    assert opened_png(b"") is None
    assert not np.asarray(decoded(thumbnail(None))).any()

"""Orders of queries, against slow counts."""

import numpy as np
import pytest

from podium.analysis.study_results.retrieved_images import (
    query_orders,
    retrieved_by_embeddings,
    retrieved_by_pictures,
    stored_pictures,
)
from tests.analysis.browsed_store import CLASSES, OF_CLASS, read_browsed, write_browsed_store
from tests.analysis.changed_results import with_views

BLOCK = "glyphs-greek/conv_small/16"
ENOUGH = 1e12


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_browsed(write_browsed_store(tmp_path_factory.mktemp("browsed") / "study"))


@pytest.fixture(scope="module")
def retrieved(results):
    return retrieved_by_embeddings(results, BLOCK, most_products=ENOUGH)[0]


def right_counts(retrieved, query):
    own = retrieved.labels_N[retrieved.queries_Q[query]]
    return [
        sum(
            int(retrieved.labels_N[image] == own)
            for image in retrieved.neighbours_LQK[loss, query]
        )
        for loss in range(len(retrieved.losses))
    ]


def test_every_image_is_a_query_and_one_of_each_class_comes_after_another(retrieved):
    labels = retrieved.labels_N[retrieved.queries_Q].tolist()

    assert sorted(retrieved.queries_Q.tolist()) == list(range(CLASSES * OF_CLASS))
    for start in range(0, len(labels), CLASSES):
        assert sorted(labels[start : start + CLASSES]) == list(range(CLASSES))


def test_only_tuned_losses_are_shown(retrieved):
    assert retrieved.losses == ("contrastive", "margin")


def test_orders_are_by_errors_and_by_disagreement(retrieved):
    orders = {name: order.tolist() for name, order in query_orders(retrieved).items()}
    sums = [sum(right_counts(retrieved, query)) for query in range(len(retrieved.queries_Q))]
    nearest = retrieved.is_right_LQK[:, :, 0]

    assert orders["sampled"] == list(range(len(sums)))
    assert orders["worst"] == sorted(range(len(sums)), key=lambda query: sums[query])
    assert orders["best"] == sorted(range(len(sums)), key=lambda query: -sums[query])
    differing = [query for query in range(len(sums)) if nearest[0, query] != nearest[1, query]]
    assert differing
    assert orders["disagreements"] == sorted(
        differing, key=lambda query: -abs(np.subtract(*right_counts(retrieved, query)))
    )


def test_without_time_for_all_queries_the_first_of_the_same_order_are_searched(results, retrieved):
    few = retrieved_by_embeddings(results, BLOCK, most_products=8 * 42 * 10)[0]

    assert few.queries_Q.tolist() == retrieved.queries_Q[:10].tolist()
    assert np.array_equal(few.neighbours_LQK, retrieved.neighbours_LQK[:, :10])
    assert few.num_queries == CLASSES * OF_CLASS


def test_continuous_labels_have_no_errors(results):
    continuous = with_views(results, objective="ndcg")
    found = retrieved_by_embeddings(continuous, BLOCK, most_products=ENOUGH)[0]

    assert list(query_orders(found)) == ["sampled"]


def test_without_embeddings_there_are_the_queries_that_trials_stored(results):
    pictures = stored_pictures(results, [BLOCK])
    retrieved, pngs = retrieved_by_pictures(results, pictures, BLOCK)

    assert retrieved.losses == ("contrastive", "margin")
    assert retrieved.neighbours_LQK.shape == (2, 4, 5)
    assert len(set(pngs)) == len(pngs) == len(retrieved.labels_N)
    names = [retrieved.class_names[label] for label in retrieved.labels_N[retrieved.queries_Q]]
    assert names == [f"letter {number}" for number in range(4)]
    assert retrieved.similarities_LQK[0, 0] == pytest.approx([0.9, 0.85, 0.8, 0.75, 0.7])


def test_a_block_without_embeddings_or_pictures_has_nothing(results):
    assert retrieved_by_embeddings(results, "no such block", most_products=ENOUGH) is None
    pictures = stored_pictures(results, ["no such block"])
    assert retrieved_by_pictures(results, pictures, "no such block") is None


def test_no_query_finds_itself(retrieved):
    assert not (retrieved.neighbours_LQK == retrieved.queries_Q[:, None]).any()

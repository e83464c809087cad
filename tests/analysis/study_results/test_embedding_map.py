"""The images of a map are chosen by a rule that knows no outcome."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.study_results.embedding_map import CLASSES, IMAGES, map_images, mapped_rows
from orchestrator.results.records.stored_embeddings import StoredEmbeddings
from tests.analysis.stored_embeddings import clusters


def stored(points_ND, labels_N, *, by_direction=True):
    return StoredEmbeddings(
        class_names=tuple(f"class {number}" for number in range(max(labels_N) + 1)),
        by_direction=by_direction,
        test_hash="t",
        scores={},
        embeddings_ND=np.asarray(points_ND, dtype=np.float32),
        labels_N=np.asarray(labels_N),
        indices_N=np.arange(len(labels_N)),
        is_gallery_N=None,
    )


def test_classes_are_spread_from_the_first_to_the_last_and_images_are_the_first():
    labels_N = np.repeat(np.arange(100, 171), 20)
    rows_M = mapped_rows(labels_N, np.arange(len(labels_N)))

    assert np.unique(labels_N[rows_M]).tolist() == [100, 110, 120, 130, 140, 150, 160, 170]
    assert rows_M[:IMAGES].tolist() == list(range(IMAGES))


def test_a_class_with_one_image_is_never_shown():
    labels_N = np.array([0, 1, 1, 2, 3, 3])

    assert np.unique(labels_N[mapped_rows(labels_N, np.arange(6))]).tolist() == [1, 3]


@given(st.lists(st.integers(0, 30), max_size=200), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_images(labels, random):
    labels_N = np.array(labels, dtype=np.int64)
    indices_N = np.arange(len(labels_N))
    order = list(range(len(labels_N)))
    random.shuffle(order)
    order = np.array(order, dtype=np.int64)
    rows_M = mapped_rows(labels_N, indices_N)
    shuffled_M = mapped_rows(labels_N[order], indices_N[order])

    assert indices_N[order][shuffled_M].tolist() == rows_M.tolist()
    shown, counts = np.unique(labels_N[rows_M], return_counts=True)
    assert len(shown) <= CLASSES
    assert all(2 <= count <= IMAGES for count in counts)


def test_directions_alone_count_where_the_loss_says_so():
    points_ND, labels_N = clusters(4, 6)
    lengths = np.random.default_rng(0).uniform(0.1, 9, size=(24, 1))
    plain, stretched = (map_images(stored(x, labels_N)) for x in (points_ND, lengths * points_ND))
    by_position = map_images(stored(lengths * points_ND, labels_N, by_direction=False))

    assert plain.nearest == stretched.nearest
    assert by_position.nearest < plain.nearest


def test_shares_are_of_the_images_shown():
    points_ND, labels_N = clusters(5, 20, apart=6.0)
    shown = map_images(stored(points_ND, labels_N))

    assert shown.nearest == shown.nearest_on_map == 1.0
    assert shown.positions_M2.shape == (5 * IMAGES, 2)
    assert shown.classes_M.tolist() == np.repeat(np.arange(5), IMAGES).tolist()


@pytest.mark.parametrize("labels", [[], [0, 1, 2], [0, 0], [0, 0, 1]])
def test_too_few_images_have_no_map(labels):
    points_ND = np.ones((len(labels), 4))

    assert mapped_rows(np.array(labels, dtype=int), np.arange(len(labels))).size < 4
    names = [*labels, 0]
    empty = stored(np.ones((len(names), 4)), names)
    few = StoredEmbeddings(
        class_names=empty.class_names,
        by_direction=True,
        test_hash="t",
        scores={},
        embeddings_ND=points_ND.astype(np.float32),
        labels_N=np.array(labels, dtype=np.int64),
        indices_N=np.arange(len(labels)),
        is_gallery_N=None,
    )
    assert map_images(few) is None


def test_embeddings_of_length_zero_are_mapped():
    points_ND, labels_N = clusters(3, 5)
    points_ND[0] = 0.0

    assert np.isfinite(map_images(stored(points_ND, labels_N)).positions_M2).all()

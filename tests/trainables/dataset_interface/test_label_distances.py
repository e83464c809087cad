"""Distances of labels: of masks, vectors and matrices, in memory and from files."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.dataset_interface.label_distances import (
    MaskDistances,
    MatrixDistances,
    VectorDistances,
    check_label_distance_file,
    read_label_distances,
)
from podium.trainables.errors import TrialInputError

GENERATOR = np.random.default_rng(0)


def matrix_of(places):
    return np.abs(places[:, None] - places)


def between_all(distances):
    every = np.arange(len(distances))
    return distances.between(every, every)


def iou(a, b):
    union = sum(p or q for p, q in zip(a, b, strict=True))
    return sum(p and q for p, q in zip(a, b, strict=True)) / union if union else 1.0


@given(st.integers(0, 2**32))
def test_mask_distances_are_one_minus_iou(seed):
    images = np.random.default_rng(seed).integers(0, 256, (6, 3, 2), dtype=np.uint8)
    images[0] = 0
    masks = (images.reshape(6, -1) >= 128).tolist()
    expected = [[1 - iou(a, b) for b in masks] for a in masks]
    np.testing.assert_allclose(between_all(MaskDistances(images)), expected, atol=1e-15)


def test_vector_distances_are_euclidean_and_those_of_numbers_are_differences():
    vectors = GENERATOR.normal(size=(7, 3)) + 1e6
    expected = [[math.dist(a, b) for b in vectors] for a in vectors]
    np.testing.assert_allclose(between_all(VectorDistances(vectors)), expected, rtol=1e-9)
    numbers = np.array([3, 1, 7])
    np.testing.assert_allclose(between_all(VectorDistances(numbers)), matrix_of(numbers))


def test_squared_distances_of_vectors_are_squares_that_rank_alike():
    vectors = GENERATOR.normal(size=(7, 3)) + 1e6
    plain, squared = VectorDistances(vectors), VectorDistances(vectors, "squared_euclidean")
    expected = [[math.dist(a, b) ** 2 for b in vectors] for a in vectors]
    np.testing.assert_allclose(between_all(squared), expected, rtol=1e-9)
    ranks = [between_all(distances).argsort(axis=1) for distances in (plain, squared)]
    np.testing.assert_array_equal(*ranks)


def cosine_distance(x, y):
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    return 1.0 - dot / (math.hypot(*x) * math.hypot(*y))


def test_cosine_distances_of_vectors_look_at_directions_alone():
    vectors = GENERATOR.normal(size=(7, 3))
    vectors[1] = 4.0 * vectors[0]
    vectors[2] = -vectors[0]
    found = between_all(VectorDistances(vectors, "cosine"))
    expected = [[cosine_distance(x, y) for y in vectors.tolist()] for x in vectors.tolist()]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert found[0, 1] == 0.0
    assert found[0, 2] == pytest.approx(2.0)


def test_a_vector_without_a_direction_has_no_cosine():
    vectors = np.ones((4, 3))
    vectors[2] = 0.0
    with pytest.raises(TrialInputError, match=r"must have a direction .* got 0 in row 2"):
        VectorDistances(vectors, "cosine")


def test_the_metric_is_part_of_the_fingerprint_and_euclidean_keeps_the_one_it_had():
    vectors, every = GENERATOR.normal(size=(7, 3)), np.arange(7)
    plain, squared = VectorDistances(vectors), VectorDistances(vectors, "squared_euclidean")
    assert VectorDistances(vectors, "cosine").fingerprint(every) != squared.fingerprint(every)
    before = hashlib.sha256(b"vectors" + vectors.tobytes()).hexdigest()
    assert plain.fingerprint(every) == before != squared.fingerprint(every)


def test_equal_vectors_are_at_distance_zero_whatever_rounding_leaves():
    vectors = np.repeat(GENERATOR.normal(100.0, 60.0, size=(20, 28)), 4, axis=0)
    apart = between_all(VectorDistances(vectors))
    assert ((apart == 0.0) == (vectors[:, None] == vectors).all(axis=2)).all()


def distance_kinds():
    places = GENERATOR.random(9)
    return {
        "matrix": MatrixDistances(matrix_of(places).astype(np.float32)),
        "vectors": VectorDistances(GENERATOR.normal(size=(9, 4))),
        "masks": MaskDistances(GENERATOR.integers(0, 256, (9, 4, 4), dtype=np.uint8)),
    }


KINDS = distance_kinds()


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_symmetric_and_zero_to_itself_and_a_part_agrees_with_the_whole(kind):
    distances = KINDS[kind]
    whole = between_all(distances)
    assert whole.dtype == np.float64
    assert (whole.diagonal() == 0.0).all()
    np.testing.assert_allclose(whole, whole.T, rtol=1e-12)
    some = np.array([7, 2, 4])
    part = distances.among(some)
    assert len(part) == 3
    np.testing.assert_allclose(between_all(part), whole[np.ix_(some, some)], rtol=1e-12)
    assert part.fingerprint(np.array([0, 2])) == distances.fingerprint(np.array([7, 4]))


def test_a_fingerprint_changes_with_the_distances_it_speaks_of_alone():
    changed = matrix_of(np.arange(5.0))
    changed[4, 3] = changed[3, 4] = 9.0
    pairs = (
        (MatrixDistances(matrix_of(np.arange(5.0))), MatrixDistances(changed)),
        (VectorDistances(np.arange(5.0)), VectorDistances(np.array([0.0, 1, 2, 3, 9]))),
    )
    for first, second in pairs:
        assert first.fingerprint(np.arange(5)) != second.fingerprint(np.arange(5))
        assert first.fingerprint(np.arange(4)) == second.fingerprint(np.arange(4))


def saved(folder, array):
    path = folder / "labels.npy"
    np.save(path, array)
    return path


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (matrix_of(np.arange(4.0)), matrix_of(np.arange(4.0))),
        (np.arange(4, dtype=np.int16), matrix_of(np.arange(4.0))),
        (np.arange(8.0).reshape(4, 2), math.sqrt(8) * matrix_of(np.arange(4.0))),
    ],
    ids=["matrix", "numbers", "vectors"],
)
def test_a_file_holds_a_matrix_or_vectors(tmp_path, array, expected):
    path = saved(tmp_path, array)
    check_label_distance_file(path, 4)
    np.testing.assert_allclose(between_all(read_label_distances(path, 4)), expected)


def test_a_metric_is_for_vectors_and_refused_for_what_are_distances(tmp_path):
    path = saved(tmp_path, np.arange(8.0).reshape(4, 2))
    found = between_all(read_label_distances(path, 4, "squared_euclidean"))
    np.testing.assert_allclose(found, 8.0 * matrix_of(np.arange(4.0)) ** 2)
    saved(tmp_path, matrix_of(np.arange(4.0)))
    for check in (check_label_distance_file, read_label_distances):
        with pytest.raises(
            TrialInputError, match="holds distances already: leave it out; got 'eu"
        ):
            check(path, 4, "euclidean")


def broken(row, column, value):
    array = matrix_of(np.arange(4.0))
    array[row, column] = value
    return array


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 3)), r"one row for each of the 4 images.*got shape \(3, 3\)"),
        (np.zeros((4, 2, 2)), r"got shape \(4, 2, 2\)"),
        (np.zeros((4, 0)), r"got shape \(4, 0\)"),
        (np.array(["a"] * 4), "must hold numbers; got <U1"),
    ],
)
def test_a_file_of_the_wrong_shape_or_type_is_refused_by_its_header(tmp_path, array, message):
    for check in (check_label_distance_file, read_label_distances):
        with pytest.raises(TrialInputError, match=message):
            check(saved(tmp_path, array), 4)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (broken(1, 2, 5.0), "the same in both directions; got 5 in row 1, column 2"),
        (broken(2, 2, 0.5), "0 from an image to itself; got 0.5 in row 2, column 2"),
        (broken(0, 3, np.nan), "distances must be finite; got nan in row 0, column 3"),
        (broken(3, 1, -1.0), "at least 0; got -1 in row 3, column 1"),
        (np.array([0, 1, np.inf, 3]), "label vectors must be finite; got inf in row 2, column 0"),
    ],
)
def test_what_are_no_distances_is_refused_by_place(tmp_path, array, message):
    path = saved(tmp_path, array)
    with pytest.raises(TrialInputError, match=message) as caught:
        read_label_distances(path, 4)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [None, b"no array"])
def test_a_file_that_is_no_array_is_refused(tmp_path, content):
    path = tmp_path / "labels.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TrialInputError, match=r"must be a \.npy file"):
        read_label_distances(path, 4)

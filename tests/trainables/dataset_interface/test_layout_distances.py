"""1 - mean IoU of layouts, against loops over classes and pixels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.dataset_interface import layout_distances as module
from podium.trainables.dataset_interface.label_distances import MatrixDistances
from podium.trainables.dataset_interface.layout_distances import layout_distances
from podium.trainables.errors import TrialInputError


def mean_iou(one, other):
    one, other = one.reshape(-1).tolist(), other.reshape(-1).tolist()
    ious = []
    for label in set(one) | set(other):
        pairs = [(a == label, b == label) for a, b in zip(one, other, strict=True)]
        ious.append(sum(a and b for a, b in pairs) / sum(a or b for a, b in pairs))
    return sum(ious) / len(ious)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
def test_layouts_are_apart_by_one_minus_the_mean_iou_of_their_classes(num, height, most, seed):
    layouts = np.random.default_rng(seed).integers(-1, most, (num, height, 3))
    expected = [[1 - mean_iou(a, b) for b in layouts] for a in layouts]
    found = layout_distances(layouts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found.diagonal(), 0.0)
    MatrixDistances(found)  # a data set takes them


def test_a_class_in_neither_layout_does_not_count():
    layouts = np.array([[[0, 0, 1, 1]], [[0, 0, 0, 1]], [[7, 7, 7, 7]]], dtype=np.uint8)
    found = layout_distances(layouts)
    assert found[0, 1] == pytest.approx(1 - (2 / 3 + 1 / 2) / 2)
    assert found[0, 2] == found[1, 2] == 1.0


def test_blocks_of_rows_change_nothing(monkeypatch):
    layouts = np.random.default_rng(0).integers(0, 4, (11, 5, 6))
    whole = layout_distances(layouts)
    monkeypatch.setattr(module, "_CHUNK_ROWS", 3)
    np.testing.assert_array_equal(layout_distances(layouts), whole)


@pytest.mark.parametrize(
    ("layouts", "message"),
    [
        (np.zeros((4, 5), np.uint8), r"shape \(images, height, width\), .* got \(4, 5\)"),
        (np.zeros((4, 0, 5), np.uint8), r"all at least 1; got \(4, 0, 5\)"),
        (np.zeros((4, 5, 5)), "classes, which are whole numbers; got float64"),
    ],
)
def test_what_are_no_layouts_is_refused(layouts, message):
    with pytest.raises(TrialInputError, match=message):
        layout_distances(layouts)

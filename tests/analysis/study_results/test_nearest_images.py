"""Nearest images are those that a search of every pair finds."""

import numpy as np
import pytest
import torch

from podium.analysis.study_results.nearest_images import nearest_images
from podium.trainables.metrics.neighbours import neighbours
from tests.analysis.stored_embeddings import clusters


def slow_search(points, query, gallery, num, *, by_direction):
    def similarity(other):
        if by_direction:
            scale = np.linalg.norm(points[query]) * np.linalg.norm(points[other])
            return float(points[query] @ points[other] / scale)
        return -float(np.sqrt(((points[query] - points[other]) ** 2).sum()))

    others = [image for image in gallery if image != query]
    ranked = sorted(others, key=lambda image: (-round(similarity(image), 12), image))[:num]
    return ranked, [similarity(image) for image in ranked]


@pytest.mark.parametrize("by_direction", [True, False])
@pytest.mark.parametrize("has_gallery", [True, False])
def test_they_equal_a_search_of_every_pair(by_direction, has_gallery):
    points = clusters(12, 9, apart=0.5)[0].astype(np.float32)
    points[50] = points[20]  # ties are won by the first
    gallery = np.arange(1, len(points), 2) if has_gallery else np.arange(len(points))
    queries = np.arange(0, len(points), 2) if has_gallery else np.array([7, 50, 0, 20, 107])
    found, similarities = nearest_images(points, queries, gallery, 6, by_direction=by_direction)

    exact = points.astype(np.float64)
    for query, row, values in zip(queries, found, similarities, strict=True):
        expected, of_them = slow_search(exact, query, gallery, 6, by_direction=by_direction)
        assert row.tolist() == expected
        assert values == pytest.approx(of_them, abs=1e-11)


def test_they_are_those_that_trials_store_with_pictures():
    points = clusters(10, 10, apart=0.4)[0].astype(np.float32)
    found, _ = nearest_images(points, np.arange(100), np.arange(100), 6, by_direction=True)
    by_trial, _ = neighbours(torch.from_numpy(points), range(100), 6)

    assert found.tolist() == by_trial.tolist()


def test_with_fewer_other_images_all_of_them_are_found():
    found, _ = nearest_images(
        np.eye(3, dtype=np.float32), np.array([1]), np.arange(3), 6, by_direction=True
    )

    assert found.tolist() == [[0, 2]]


def test_embeddings_of_length_zero_are_as_near_as_a_right_angle():
    points = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    found, similarities = nearest_images(points, np.array([0]), np.arange(3), 2, by_direction=True)

    assert found.tolist() == [[1, 2]]
    assert similarities.tolist() == [[0.0, -1.0]]

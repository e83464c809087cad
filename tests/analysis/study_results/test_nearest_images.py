"""Nearest images are those that a search of every pair finds."""

import math

import numpy as np
import pytest
import torch

from podium.analysis.study_results.nearest_images import nearest_images
from podium.trainables.metrics.neighbours import neighbours
from tests.analysis.stored_embeddings import clusters
from tests.trainables.metrics.ranking_oracle import GEOMETRIES, cosine, minus_cosh


def slow_search(points, query, gallery, num, geometry):
    def similarity(other):
        if geometry == "cosine":
            return cosine(points[query], points[other])
        if geometry == "euclidean":
            return -math.dist(points[query], points[other])
        return -math.acosh(max(1.0, -minus_cosh(points[query], points[other]))) / math.sqrt(0.1)

    others = [image for image in gallery if image != query]
    ranked = sorted(others, key=lambda image: (-round(similarity(image), 12), image))[:num]
    return ranked, [similarity(image) for image in ranked]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("has_gallery", [True, False])
def test_they_equal_a_search_of_every_pair(geometry, has_gallery):
    points = clusters(12, 9, apart=0.5)[0].astype(np.float32)
    points[50] = points[20]  # ties are won by the first
    gallery = np.arange(1, len(points), 2) if has_gallery else np.arange(len(points))
    queries = np.arange(0, len(points), 2) if has_gallery else np.array([7, 50, 0, 20, 107])
    found, similarities = nearest_images(points, queries, gallery, 6, geometry)

    exact = points.astype(np.float64)
    for query, row, values in zip(queries, found, similarities, strict=True):
        expected, of_them = slow_search(exact, query, gallery, 6, geometry)
        assert row.tolist() == expected
        assert values == pytest.approx(of_them, abs=1e-11)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_they_are_those_that_trials_store_with_pictures(geometry):
    points = clusters(10, 10, apart=0.4)[0].astype(np.float32)
    found, values = nearest_images(points, np.arange(100), np.arange(100), 6, geometry)
    by_trial, shown = neighbours(torch.from_numpy(points), range(100), 6, geometry=geometry)

    assert found.tolist() == by_trial.tolist()
    assert values == pytest.approx(shown.numpy(), abs=1e-5)


def test_with_fewer_other_images_all_of_them_are_found():
    found, _ = nearest_images(
        np.eye(3, dtype=np.float32), np.array([1]), np.arange(3), 6, "cosine"
    )

    assert found.tolist() == [[0, 2]]


def test_embeddings_of_length_zero_are_as_near_as_a_right_angle():
    points = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    found, similarities = nearest_images(points, np.array([0]), np.arange(3), 2, "cosine")

    assert found.tolist() == [[1, 2]]
    assert similarities.tolist() == [[0.0, -1.0]]

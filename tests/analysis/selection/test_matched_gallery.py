"""Recall among few classes: against podium's own metric, and planted galleries."""

from math import comb

import numpy as np
import pytest
import torch

from analysis.selection.matched_gallery import matched_recall
from trainables.metrics.class_retrieval import ClassRetrieval
from trainables.metrics.matched_recall import GallerySize, matched_recall_scores


def clustered(rng, classes=12, images=9, dim=6, spread=0.9):
    centres = rng.standard_normal((classes, dim))
    labels = np.repeat(np.arange(classes), images)
    points = centres[labels] + spread * rng.standard_normal((classes * images, dim))
    return points.astype(np.float32), labels


@pytest.mark.parametrize("k", [1, 4])
def test_with_all_classes_it_is_the_recall_that_podium_reports(k):
    embeddings, labels = clustered(np.random.default_rng(0))
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    (score,) = matched_recall_scores(
        ClassRetrieval(embeddings_ND=torch.from_numpy(unit), labels_N=torch.from_numpy(labels)),
        [k],
        GallerySize(num_classes=12),
        num_draws=1,
    )
    found = matched_recall(embeddings, labels, k=k, num_classes=12, by_direction=True)

    assert found.mean == pytest.approx(score.value)
    assert found.low == found.high == found.mean


def test_few_classes_are_drawn_as_often_as_podiums_own_metric_expects():
    embeddings, labels = clustered(np.random.default_rng(1))
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    (score,) = matched_recall_scores(
        ClassRetrieval(embeddings_ND=torch.from_numpy(unit), labels_N=torch.from_numpy(labels)),
        [1],
        GallerySize(num_classes=4),
        num_draws=600,
    )
    found = matched_recall(embeddings, labels, k=1, num_classes=4, by_direction=True)

    assert found.mean == pytest.approx(score.value, abs=0.03)  # four standard deviations
    assert found.low < found.mean < found.high


def test_the_mean_is_near_that_of_all_draws():
    embeddings, labels = clustered(np.random.default_rng(3), classes=40, images=4, spread=1.2)
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    nearness = unit @ unit.T
    np.fill_diagonal(nearness, -np.inf)
    chances = []
    for row, label in zip(nearness, labels, strict=True):
        ahead = set(labels[(labels != label) & (row > row[labels == label].max())])
        # A hit if none of the classes that are nearer are among the 9 others drawn.
        chances.append(comb(39 - len(ahead), 9) / comb(39, 9))

    found = matched_recall(embeddings, labels, k=1, num_classes=10, by_direction=True)
    assert found.mean == pytest.approx(np.mean(chances), abs=0.004)


def test_distance_is_by_length_too_where_directions_do_not_matter_alone():
    # Two classes in one direction, at different lengths.
    embeddings = np.array([[1.0], [1.1], [5.0], [5.1]], dtype=np.float32)
    labels = np.array([0, 0, 1, 1])
    options = {"k": 1, "num_classes": 2}

    assert matched_recall(embeddings, labels, by_direction=False, **options).mean == 1
    assert matched_recall(embeddings, labels, by_direction=True, **options).mean == 0


def test_ties_count_against_the_query_and_images_alone_in_their_class_are_no_queries():
    collapsed = np.ones((6, 3), dtype=np.float32)
    labels = np.array([0, 0, 1, 1, 2, 3])

    found = matched_recall(collapsed, labels, k=1, num_classes=4, by_direction=True)
    assert found.mean == 0
    alone = np.arange(6)
    assert matched_recall(collapsed, alone, k=1, num_classes=6, by_direction=True) is None


def test_more_classes_than_there_are_cannot_be_drawn():
    embeddings, labels = clustered(np.random.default_rng(2), classes=3)

    assert matched_recall(embeddings, labels, k=1, num_classes=4, by_direction=True) is None


def test_equal_seeds_give_equal_draws():
    embeddings, labels = clustered(np.random.default_rng(3))
    options = {"k": 1, "num_classes": 5, "by_direction": True}

    assert matched_recall(embeddings, labels, seed=1, **options) == matched_recall(
        embeddings, labels, seed=1, **options
    )
    assert matched_recall(embeddings, labels, seed=1, **options) != matched_recall(
        embeddings, labels, seed=2, **options
    )

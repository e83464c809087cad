"""Variances and effective rank against slow loops over images, in float64."""

import math

import numpy as np
import pytest
import torch

from podium.trainables.metrics.embedding_spread import spread_scores


def spread(embeddings, labels):
    rows = torch.as_tensor(embeddings, dtype=torch.float32)
    given = rows.clone()
    found = spread_scores(rows, torch.tensor(labels), role="val")
    assert torch.equal(rows, given)
    assert all(score.role == "val" and score.k is None for score in found)
    return {score.metric: score.value for score in found}


def slow_spread(embeddings, labels):
    rows = [np.float64(np.float32(row)) for row in embeddings]
    rows = [row / math.sqrt(sum(number * number for number in row)) for row in rows]
    mean = sum(rows) / len(rows)
    within = between = 0.0
    for row, label in zip(rows, labels, strict=True):
        own = [other for other, theirs in zip(rows, labels, strict=True) if theirs == label]
        centre = sum(own) / len(own)
        within += ((row - centre) ** 2).sum() / len(rows)
        between += ((centre - mean) ** 2).sum() / len(rows)
    spectrum = np.linalg.svd(np.cov(np.array(rows).T, bias=True), compute_uv=False)
    shares = [value / sum(spectrum) for value in spectrum if value > 1e-15 * sum(spectrum)]
    rank = math.exp(-sum(share * math.log(share) for share in shares))
    return {
        "intra_class_variance": within,
        "inter_class_variance": between,
        "effective_rank": rank,
    }


# Images, dimensions, classes: more of the one than of the other, and classes of single images.
@pytest.mark.parametrize("shape", [(60, 5, 7), (12, 30, 4), (20, 4, 18)])
def test_as_slow_loops_say(shape):
    images, dim, classes = shape
    generator = np.random.default_rng(images)
    labels = generator.integers(0, classes, images).tolist()
    embeddings = generator.normal(size=(images, dim)) * generator.uniform(0.1, 9, (images, 1)) + 1
    assert spread(embeddings, labels) == pytest.approx(slow_spread(embeddings, labels), rel=1e-9)


def test_by_hand():
    # Two classes at right angles, without spread: both means are at 1/2 of the mean squared.
    assert spread([[2, 0], [1, 0], [0, 3], [0, 1]], [4, 4, 9, 9]) == pytest.approx(
        {"intra_class_variance": 0.0, "inter_class_variance": 0.5, "effective_rank": 1.0}
    )
    # All directions of a cross have the same variance.
    cross = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    assert spread(cross, [0, 0, 1, 1]) == pytest.approx(
        {"intra_class_variance": 1.0, "inter_class_variance": 0.0, "effective_rank": 2.0}
    )


def test_odd_input():
    rows = np.random.default_rng(1).normal(size=(30, 8))
    assert spread(rows, [0] * 30)["inter_class_variance"] == pytest.approx(0.0, abs=1e-12)
    assert spread(rows, [*range(30)])["intra_class_variance"] == pytest.approx(0.0, abs=1e-12)
    nothing = {"intra_class_variance": 0.0, "inter_class_variance": 0.0, "effective_rank": 0.0}
    assert spread([[0.1, 0.7, -0.3]] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2]) == nothing
    assert spread([[0.1, 0.7, -0.3]], [5]) == nothing
    assert spread([[0.0, 0.0]] * 3, [0, 1, 1]) == nothing

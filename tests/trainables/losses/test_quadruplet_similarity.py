import math

import pytest
import torch
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.quadruplet_similarity import QuadrupletSimilarity
from tests.trainables.losses.loss_cases import balanced_labels, embeddings, run

# 40 classes of 5: 400 positive and 19,500 negative pairs, so both sides are grouped.
LABELS = balanced_labels(num_classes=40, samples_per_class=5)
CENTRES = embeddings(40, dim=32, dtype=torch.float64, seed=5)
X = CENTRES[LABELS] + 0.7 * embeddings(200, dim=32, dtype=torch.float64)


def over_all_pairs_of_pairs(x, labels, gamma):
    z = torch.nn.functional.normalize(x)
    rows, columns = torch.triu_indices(len(x), len(x), offset=1)
    cosine = (z @ z.T)[rows, columns]
    is_positive = labels[rows] == labels[columns]
    return softplus(gamma * (cosine[~is_positive] - cosine[is_positive][:, None])).mean()


@pytest.mark.parametrize(("gamma", "tolerance"), [(1.0, 1e-5), (10.0, 2e-4), (100.0, 2e-3)])
def test_a_large_batch_comes_close_to_all_pairs_of_pairs_from_below(gamma, tolerance):
    x = X.clone().requires_grad_()
    exact = over_all_pairs_of_pairs(x, LABELS, gamma)
    exact_gradient = torch.autograd.grad(exact, x)[0]
    value, gradients, _ = run(QuadrupletSimilarity(gamma=gamma), X, LABELS)
    assert exact * (1.0 - tolerance) <= value <= exact
    error = (gradients["embeddings"] - exact_gradient).norm() / exact_gradient.norm()
    assert error < 0.01


def test_with_256_pairs_on_a_side_it_is_exact_and_with_more_it_is_not():
    for num_classes, samples_per_class, is_exact in ((2, 16, True), (2, 17, False)):
        labels = balanced_labels(num_classes, samples_per_class)
        x = embeddings(len(labels), dim=32, dtype=torch.float64)
        value = QuadrupletSimilarity(gamma=50.0)(Batch.of(x, labels)).value
        exact = over_all_pairs_of_pairs(x, labels, 50.0)
        assert math.isclose(value, exact, rel_tol=1e-12) is is_exact  # 256 and 289 negatives

"""The sub-graph of ProxyGML: what is kept, and what the loss is at the ends of the ratio."""

import math

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def prepared(**hyperparameters):
    return prepared_loss(
        "proxy_gml", num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters
    )


def test_a_ratio_too_small_for_another_class_leaves_nothing_active():
    loss = prepared(subproxies=4, ratio=0.01, regulariser=0.0)
    value, gradients, active_fraction = run(loss, X.double(), LABELS)
    assert value == active_fraction == 0.0
    assert all((gradient == 0.0).all() for gradient in gradients.values())


def test_with_a_regulariser_the_proxies_count_as_samples():
    loss = prepared(subproxies=4, ratio=0.01, regulariser=1.0)
    _, gradients, active_fraction = run(loss, X.double(), LABELS)
    assert (gradients["embeddings"] == 0.0).all()
    assert (gradients["proxies"] != 0.0).any()
    assert active_fraction.item() == pytest.approx(4 * NUM_CLASSES / (4 * NUM_CLASSES + len(X)))


def test_a_kept_proxy_at_a_right_angle_stays_in_the_sum():
    """Its cosine is 0, which is not the same as not being kept."""
    loss = prepared_loss(
        "proxy_gml", num_classes=2, dim=2, subproxies=1, ratio=1.0, regulariser=0.0
    )
    loss.proxies.data = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    value, _, _ = run(loss, torch.tensor([[1.0, 0.0]]), torch.tensor([0]))
    assert value.item() == pytest.approx(math.log(1.0 + math.exp(-1.0)))

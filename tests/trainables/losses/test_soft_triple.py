"""The centres of SoftTriple: how they are weighed, and what pulls them together."""

import math

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def value_and_gradients(name, proxies, **hyperparameters):
    loss = prepared_loss(name, num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters)
    loss.proxies.data = proxies.double()
    value, gradients, _ = run(loss, X.double(), LABELS)
    return value, gradients


def some_centres(num_centres):
    return prepared_loss("soft_triple", num_classes=NUM_CLASSES, centres=num_centres).proxies.data


def test_equal_centres_are_one_centre():
    expected, _ = value_and_gradients("cosface", some_centres(1)[0], margin=0.1, scale=20.0)
    value, _ = value_and_gradients(
        "soft_triple", some_centres(1).expand(5, -1, -1), centres=5, tau=0.0
    )
    torch.testing.assert_close(value, expected)


def test_a_large_gamma_takes_the_nearest_centre_and_zero_their_mean():
    centres = some_centres(4)
    x = torch.nn.functional.normalize(X.double(), dim=1)
    S_BKC = torch.einsum("bd,kcd->bkc", x, torch.nn.functional.normalize(centres.double(), dim=2))
    for gamma, S_BC in ((1000.0, S_BKC.amax(1)), (0.0, S_BKC.mean(1))):
        expected = torch.nn.functional.cross_entropy(20.0 * S_BC, LABELS)
        value, _ = value_and_gradients(
            "soft_triple", centres, centres=4, gamma=gamma, margin=0.0, tau=0.0
        )
        torch.testing.assert_close(value, expected, rtol=1e-3, atol=0.0)


def test_tau_costs_half_the_mean_distance_of_centres():
    """Two centres at a right angle in each class are sqrt(2) apart."""
    centres = torch.zeros(2, NUM_CLASSES, X.shape[1])
    centres[0, :, 0], centres[1, :, 1] = 3.0, 0.5
    without, _ = value_and_gradients("soft_triple", centres, centres=2, tau=0.0)
    value, _ = value_and_gradients("soft_triple", centres, centres=2, tau=0.4)
    assert (value - without).item() == pytest.approx(0.4 * math.sqrt(2.0) / 2.0, rel=1e-5)


def test_coinciding_centres_have_a_finite_gradient_in_float32():
    loss = prepared_loss("soft_triple", num_classes=NUM_CLASSES, centres=3, tau=1.0)
    loss.proxies.data = loss.proxies.data[:1].expand(3, -1, -1).clone()
    value, gradients, _ = run(loss, X, LABELS)
    assert value.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients.values())


def test_with_a_single_class_the_centres_still_merge():
    loss = prepared_loss("soft_triple", num_classes=1, centres=3)
    value, gradients, active_fraction = run(loss, X, torch.zeros_like(LABELS))
    assert value > 0.0
    assert (gradients["proxies"] != 0.0).any()
    assert (gradients["embeddings"] == 0.0).all()
    assert active_fraction == 1.0

"""The centres of SoftTriple: how they are weighed, and what pulls them together."""

import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


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

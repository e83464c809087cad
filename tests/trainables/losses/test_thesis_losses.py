"""The second loss of the thesis does not overflow."""

import math

import torch
from torch.nn.functional import normalize

from tests.trainables.losses.loss_cases import prepared_loss, run


def naive_push(similarities_CC, *, alpha, margin):
    powers = torch.exp(alpha * (similarities_CC + margin)).fill_diagonal_(0.0)
    return torch.log(1.0 + powers.sum(1)).mean()


def alike(num_rows, dim=64, cosine=0.9):
    """Unit vectors whose cosines to each other are about ``cosine``."""
    generator = torch.Generator().manual_seed(0)
    common, own = (
        normalize(torch.randn(rows, dim, generator=generator), dim=1) for rows in (1, num_rows)
    )
    return normalize(math.sqrt(cosine) * common + math.sqrt(1.0 - cosine) * own, dim=1)


def test_the_second_loss_is_finite_where_the_formula_as_it_stands_overflows():
    """As early in training: 180 embeddings alike, proxies not far from them."""
    x, labels = alike(180), torch.arange(180) % 30
    loss = prepared_loss("thesis_loss_2", num_classes=30, dim=64, alpha=100.0)
    loss.proxies.data = alike(30, cosine=0.5) + alike(1)
    S_BC = x @ normalize(loss.proxies.data, dim=1).T
    assert naive_push(S_BC.T @ S_BC, alpha=100.0, margin=0.1).isinf()
    value, gradients, _ = run(loss, x, labels)
    exact, exact_gradients, _ = run(loss.double(), x.double(), labels)
    torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=0.0)
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient.double(), exact_gradients[name], rtol=1e-2, atol=1e-3)

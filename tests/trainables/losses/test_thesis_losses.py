"""The thesis's own losses: what they share with proxy-anchor, and that they do not overflow."""

import math

import pytest
import torch
from pytorch_metric_learning.losses import ProxyAnchorLoss
from pytorch_metric_learning.reducers import DoNothingReducer
from torch.nn.functional import normalize

from tests.trainables.losses.loss_cases import BATCHES, DIM, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def prepared(name, **hyperparameters):
    return prepared_loss(name, num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters)


def pull_of_proxy_anchor(x, proxies, *, alpha, margin):
    theirs = ProxyAnchorLoss(
        NUM_CLASSES, DIM, alpha=alpha, margin=margin, reducer=DoNothingReducer()
    )
    theirs.proxies = torch.nn.Parameter(proxies)
    positive = theirs(x, LABELS)["pos_loss"]
    return positive["losses"].sum() / positive["divisor"]


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


@pytest.mark.parametrize("settings", [(32.0, 0.1), (4.0, 0.5)])
def test_the_first_loss_pulls_as_proxy_anchor_does_and_pushes_proxies_only(settings):
    settings = dict(zip(("alpha", "margin"), settings, strict=True))
    loss = prepared("thesis_loss_1", **settings)
    value, gradients, _ = run(loss, X.double(), LABELS)
    x = X.double().requires_grad_()
    pull = pull_of_proxy_anchor(x, loss.proxies.data, **settings)
    w = normalize(loss.proxies.data, dim=1)
    torch.testing.assert_close(value, pull.detach() + naive_push(w @ w.T, **settings))
    torch.testing.assert_close(gradients["embeddings"], torch.autograd.grad(pull, x)[0])


@pytest.mark.parametrize("mean_over_batch", [False, True])
def test_the_second_loss_pulls_alike_and_pushes_by_what_the_batch_sees(mean_over_batch):
    settings = {"alpha": 3.0, "margin": 0.2}
    loss = prepared("thesis_loss_2", mean_over_batch=mean_over_batch, **settings)
    value, _, _ = run(loss, X.double(), LABELS)
    pull = pull_of_proxy_anchor(X.double(), loss.proxies.data, **settings).detach()
    S_BC = normalize(X.double(), dim=1) @ normalize(loss.proxies.data, dim=1).T
    G_CC = S_BC.T @ S_BC / (len(X) if mean_over_batch else 1)
    torch.testing.assert_close(value, pull + naive_push(G_CC, **settings))


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

"""Our losses against their twins in pytorch-metric-learning, in float64."""

from functools import partial

import pytest
import torch
from pytorch_metric_learning import losses, miners
from pytorch_metric_learning.distances import CosineSimilarity

from tests.trainables.losses.loss_cases import BATCHES, DIM, prepared_loss, run

# Its reducers add 1e-7 or so to a divisor, and its softplus is linear above 20.
CLOSE = {"rtol": 1e-7, "atol": 1e-9}


def contrastive(loss, x, labels, num_classes):
    # Its positive side is [1 - S]+: ours, up to the constant 1.
    margin = loss.hyperparameters["margin"]
    twin = losses.ContrastiveLoss(pos_margin=1.0, neg_margin=margin, distance=CosineSimilarity())
    return twin(x, labels) - 1.0


def multi_similarity(loss, x, labels, num_classes):
    alpha, beta, margin, epsilon = loss.hyperparameters.values()
    kept = miners.MultiSimilarityMiner(epsilon=epsilon)(x, labels)
    return losses.MultiSimilarityLoss(alpha=alpha, beta=beta, base=margin)(x, labels, kept)


def proxy_anchor(loss, x, labels, num_classes):
    twin = losses.ProxyAnchorLoss(num_classes, DIM, **loss.hyperparameters).double()
    twin.proxies = loss.proxies
    return twin(x, labels)


TWINS = [
    pytest.param("contrastive", {"margin": 0.5}, contrastive, id="contrastive"),
    pytest.param("contrastive", {"margin": -0.2}, contrastive, id="contrastive-low"),
    pytest.param("multi_similarity", {}, multi_similarity, id="multi_similarity"),
    pytest.param(
        "multi_similarity",
        {"alpha": 18.0, "beta": 76.0, "margin": 0.8, "epsilon": 0.4},
        multi_similarity,
        id="multi_similarity-tuned",
    ),
    pytest.param("proxy_anchor", {}, proxy_anchor, id="proxy_anchor"),
    pytest.param(
        "proxy_anchor", {"alpha": 90.0, "margin": 0.4}, proxy_anchor, id="proxy_anchor-sharp"
    ),
]


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced", "long embeddings", "clustered"])
@pytest.mark.parametrize(("name", "hyperparameters", "twin"), TWINS)
def test_values_and_gradients_equal_those_of_the_twin(name, hyperparameters, twin, batch_name):
    x, labels, num_classes = BATCHES[batch_name]
    x = x.double()
    make = partial(prepared_loss, name, num_classes=num_classes, dtype=torch.float64)
    value, gradients, _ = run(make(**hyperparameters), x, labels)

    loss = make(**hyperparameters)
    inputs = {"embeddings": x.clone().requires_grad_(), **dict(loss.named_parameters())}
    expected = twin(loss, inputs["embeddings"], labels, num_classes)
    expected_gradients = torch.autograd.grad(expected, list(inputs.values()))
    torch.testing.assert_close(value, expected.detach(), **CLOSE)
    torch.testing.assert_close(
        gradients, dict(zip(inputs, expected_gradients, strict=True)), **CLOSE
    )

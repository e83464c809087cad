"""Our losses against their twins in pytorch-metric-learning, in float64."""

import pytest
import torch

from benchmarks.twins import twin_module, twin_names
from tests.trainables.losses.loss_cases import BATCHES, DIM, prepared_loss, run

# Its reducers add 1e-7 or so to a divisor, and its softplus is linear above 20.
CLOSE = {"rtol": 1e-7, "atol": 1e-9}

CASES = [
    pytest.param(name, case, id=f"{name}-{index}")
    for name in twin_names()
    for index, case in enumerate(twin_module(name).CASES)
]


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced", "long embeddings", "clustered"])
@pytest.mark.parametrize(("name", "hyperparameters"), CASES)
def test_values_and_gradients_equal_those_of_the_twin(name, hyperparameters, batch_name):
    x, labels, num_classes = BATCHES[batch_name]
    x = x.double()

    def make():
        return prepared_loss(name, num_classes=num_classes, dtype=torch.float64, **hyperparameters)

    value, gradients, _ = run(make(), x, labels)
    loss = make()
    inputs = {"embeddings": x.clone().requires_grad_(), **dict(loss.named_parameters())}
    module = twin_module(name)
    expected = module.twin(loss, num_classes, DIM)(inputs["embeddings"], labels)
    expected_gradients = torch.autograd.grad(
        expected, list(inputs.values()), materialize_grads=True
    )
    close = {**CLOSE, **getattr(module, "CLOSE", {})}
    torch.testing.assert_close(value, expected.detach(), **close)
    torch.testing.assert_close(
        gradients, dict(zip(inputs, expected_gradients, strict=True)), **close
    )

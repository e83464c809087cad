"""Every loss against an independent slow loop in float64: values and gradients."""

import itertools

import pytest
import torch

from tests.soak import soak
from tests.trainables.losses.loss_cases import (
    LOSSES,
    SMALL_BATCHES,
    full_batch,
    oracle_of,
    points_between,
    prepared_loss,
    value_and_gradients,
)

# One point of the joint space with each batch, the published default with the first.
CASES = [(name, at % 6) for at, name in enumerate(SMALL_BATCHES)]
OTHERS = itertools.product(SMALL_BATCHES, range(6))


@pytest.mark.parametrize("case", [*CASES, *soak(*OTHERS)], ids="{0[0]} {0[1]}".format)
@pytest.mark.parametrize("name", LOSSES)
def test_values_and_gradients_equal_those_of_the_oracle(name, case):
    batch_name, point = case
    x, labels, num_classes = SMALL_BATCHES[batch_name]
    x = x.double()
    hyperparameters = points_between(name, num_points=6)[point]
    loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64, **hyperparameters)

    def ours(x, parameters):
        return loss.compute(full_batch(x, labels), parameters, hyperparameters).value

    def slow(x, parameters):
        return oracle_of(name)(full_batch(x, labels), parameters, **hyperparameters)

    value, gradients = value_and_gradients(ours, x, loss.named_parameters())
    expected, expected_gradients = value_and_gradients(slow, x, loss.named_parameters())
    assert value.dtype == torch.float64
    torch.testing.assert_close(value, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-8, atol=1e-11)

"""Every loss against an independent slow loop in float64: values and gradients."""

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
POINTS = {name: [at % 6] for at, name in enumerate(SMALL_BATCHES)}


@pytest.mark.parametrize("points", ["one point", *soak("all points")])
@pytest.mark.parametrize("batch_name", SMALL_BATCHES)
@pytest.mark.parametrize("name", LOSSES)
def test_values_and_gradients_equal_those_of_the_oracle(name, batch_name, points):
    x, labels, num_classes = SMALL_BATCHES[batch_name]
    x = x.double()
    every = points_between(name, num_points=6)
    for at in POINTS[batch_name] if points == "one point" else range(6):
        loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64, **every[at])

        def ours(x, parameters, loss=loss, hyperparameters=every[at]):
            return loss.compute(full_batch(x, labels), parameters, hyperparameters).value

        def slow(x, parameters, hyperparameters=every[at]):
            return oracle_of(name)(full_batch(x, labels), parameters, **hyperparameters)

        value, gradients = value_and_gradients(ours, x, loss.named_parameters())
        expected, expected_gradients = value_and_gradients(slow, x, loss.named_parameters())
        assert value.dtype == torch.float64
        torch.testing.assert_close(value, expected, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(gradients, expected_gradients, rtol=1e-8, atol=1e-11)

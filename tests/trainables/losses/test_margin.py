"""The margin loss on distances and on cosines: its boundary, trained for each class or given."""

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def margin_loss(name="margin", **hyperparameters):
    return prepared_loss(name, num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters)


@pytest.mark.parametrize("name", ["margin", "margin_cosine"])
def test_a_boundary_that_is_not_trained_is_no_parameter_and_acts_as_one_at_its_start(name):
    trained, given = (margin_loss(name, learn_beta=is_learned) for is_learned in (True, False))
    assert trained.beta.shape == (NUM_CLASSES,)
    assert list(given.parameters()) == []
    value, gradients, active_fraction = run(trained, X.double(), LABELS)
    assert gradients.pop("beta").abs().sum() > 0.0
    torch.testing.assert_close(run(given, X.double(), LABELS), (value, gradients, active_fraction))


def test_nu_alone_is_not_active():
    """All pairs are where they should be, so there is no open hinge to divide by."""
    x = torch.eye(2, 8, dtype=torch.float64).repeat_interleave(2, 0)
    loss = prepared_loss("margin", num_classes=2, beta=0.7, nu=1.0, miner="all_triplets").double()
    value, gradients, active_fraction = run(loss, x, torch.tensor([0, 0, 1, 1]))
    assert value == active_fraction == 0.0
    assert (gradients["beta"] == 0.0).all()

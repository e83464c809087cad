"""The margin loss on cosines: by hand, at the values of the thesis, and its boundary."""

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, full_batch, prepared_loss, run


def test_hand_computed_on_the_circle():
    """Cosines: 1/2 between the positives, 0 and sqrt(3)/2 to the negative."""
    angles = torch.tensor([0.0, 60.0, 90.0], dtype=torch.float64).deg2rad()
    batch = full_batch(torch.stack([angles.cos(), angles.sin()], 1), torch.tensor([0, 0, 1]))
    loss = prepared_loss(
        "margin_cosine", num_classes=2, margin=0.2, beta=0.4, miner="all_triplets"
    ).double()
    output = loss(batch)
    # Both triplets pull, as 1/2 is less than 0.6; only that of 60 degrees pushes.
    expected = (2 * (0.2 + 0.4 - 0.5) + (0.2 + 0.75**0.5 - 0.4)) / 3
    assert output.value.item() == pytest.approx(expected)
    assert output.active_fraction.item() == pytest.approx(3 / 4)


def test_at_the_values_of_the_thesis_every_positive_is_pulled_and_negatives_above_0_7_pushed():
    x, labels, num_classes = BATCHES["clustered"]
    unit = torch.nn.functional.normalize(x.double())
    S = unit @ unit.T
    same = labels[:, None] == labels
    positives = same & ~torch.eye(len(labels), dtype=torch.bool)
    pushed = ~same & (S > 0.7)
    assert pushed.any()
    # An anchor of four classmates and 20 others is in three triplets of each of its negatives.
    costs = torch.cat([(1.7 - S[positives]).repeat(20), (S[pushed] - 0.7).repeat(3)])
    loss = prepared_loss("margin_cosine", num_classes=num_classes, miner="all_triplets").double()
    torch.testing.assert_close(loss(full_batch(x.double(), labels)).value, costs.mean())


def test_a_boundary_that_is_not_trained_is_no_parameter_and_acts_as_one_that_is_at_its_start():
    x, labels, num_classes = BATCHES["clustered"]
    trained, given = (
        prepared_loss("margin_cosine", num_classes=num_classes, learn_beta=learn_beta).double()
        for learn_beta in (True, False)
    )
    assert list(given.parameters()) == []
    value, gradients, active_fraction = run(trained, x.double(), labels)
    assert gradients.pop("beta").abs().sum() > 0.0
    torch.testing.assert_close(run(given, x.double(), labels), (value, gradients, active_fraction))

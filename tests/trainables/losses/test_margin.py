"""The margin loss on distances and on cosines: its boundary, trained for each class or given."""

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, full_batch, on_circle, prepared_loss, run

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


def test_only_the_boundaries_of_the_batch_get_a_gradient():
    x, labels, num_classes = BATCHES["one class of many"]
    labels = labels.clone()
    labels[:4] = 1
    loss = prepared_loss("margin", num_classes=num_classes, miner="all_triplets")
    _, gradients, _ = run(loss, x, labels)
    assert gradients["beta"].nonzero().flatten().tolist() == [1, 3]


def test_hand_computed_on_the_circle():
    """Distances: 1 between the positives, sqrt(2) and 2 sin(15 degrees) to the negative."""
    batch = full_batch(on_circle(0.0, 60.0, 90.0), torch.tensor([0, 0, 1]))
    loss = prepared_loss(
        "margin", num_classes=2, margin=0.5, beta=0.75, nu=0.1, miner="all_triplets"
    ).double()
    output = loss(batch)
    near = 2.0 * torch.sin(torch.tensor(15.0).deg2rad()).item()
    # Both triplets pull; only that of 60 degrees pushes.
    expected = (2 * (1.0 - 0.75 + 0.5) + (0.75 - near + 0.5) + 2 * 0.1 * 0.75) / 3
    assert output.value.item() == pytest.approx(expected)
    assert output.active_fraction.item() == pytest.approx(3 / 4)


def test_nu_pulls_the_boundaries_in_as_often_as_their_anchors_are_mined():
    (_, without, _), (_, with_nu, _) = (
        run(margin_loss(nu=nu, miner="all_triplets"), X.double(), LABELS) for nu in (0.0, 0.5)
    )
    difference = with_nu["beta"] - without["beta"]
    assert (difference > 0.0).all()
    torch.testing.assert_close(difference, difference[:1].expand(NUM_CLASSES))
    torch.testing.assert_close(with_nu["embeddings"], without["embeddings"])


def test_nu_alone_is_not_active():
    """All pairs are where they should be, so there is no open hinge to divide by."""
    x = torch.eye(2, 8, dtype=torch.float64).repeat_interleave(2, 0)
    loss = prepared_loss("margin", num_classes=2, beta=0.7, nu=1.0, miner="all_triplets").double()
    value, gradients, active_fraction = run(loss, x, torch.tensor([0, 0, 1, 1]))
    assert value == active_fraction == 0.0
    assert (gradients["beta"] == 0.0).all()


def test_on_cosines_hand_computed_on_the_circle():
    """Cosines: 1/2 between the positives, 0 and sqrt(3)/2 to the negative."""
    batch = full_batch(on_circle(0.0, 60.0, 90.0), torch.tensor([0, 0, 1]))
    loss = prepared_loss(
        "margin_cosine", num_classes=2, margin=0.2, beta=0.4, miner="all_triplets"
    ).double()
    output = loss(batch)
    # Both triplets pull, as 1/2 is less than 0.6; only that of 60 degrees pushes.
    expected = (2 * (0.2 + 0.4 - 0.5) + (0.2 + 0.75**0.5 - 0.4)) / 3
    assert output.value.item() == pytest.approx(expected)
    assert output.active_fraction.item() == pytest.approx(3 / 4)


def test_at_the_values_of_the_thesis_all_positives_are_pulled_and_negatives_above_0_7_pushed():
    unit = torch.nn.functional.normalize(X.double())
    S = unit @ unit.T
    same = LABELS[:, None] == LABELS
    positives = same & ~torch.eye(len(LABELS), dtype=torch.bool)
    pushed = ~same & (S > 0.7)
    assert pushed.any()
    # An anchor of four classmates and 20 others is in three triplets of each of its negatives.
    costs = torch.cat([(1.7 - S[positives]).repeat(20), (S[pushed] - 0.7).repeat(3)])
    loss = margin_loss("margin_cosine", miner="all_triplets")
    torch.testing.assert_close(loss(full_batch(X.double(), LABELS)).value, costs.mean())

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, embeddings
from trainables.loss_composition.batch import Batch
from trainables.losses.quadruplet import Quadruplet
from trainables.losses.triplet_l2 import TripletL2


@pytest.mark.parametrize("batch_name", ["clustered", "unbalanced", "duplicates"])
def test_a_closed_second_hinge_leaves_the_triplet_loss(batch_name):
    x, labels, _ = BATCHES[batch_name]
    batch = Batch.of(x.double(), labels)
    expected = TripletL2(margin=0.3, miner="all_triplets")(batch).value
    value = Quadruplet(triplet_margin=0.3, quadruplet_margin=-4.0)(batch).value
    torch.testing.assert_close(value, expected)


def test_two_classes_make_no_quadruplet():
    x = embeddings(8, dtype=torch.float64)
    batch = Batch.of(x, torch.tensor([0, 0, 0, 0, 1, 1, 1, 1]))
    triplets = TripletL2(margin=0.2, miner="all_triplets")(batch)
    output = Quadruplet(quadruplet_margin=4.0)(batch)
    torch.testing.assert_close(output.value, triplets.value)
    torch.testing.assert_close(output.active_fraction, triplets.active_fraction)


def test_hand_computed_on_the_circle():
    """One pair, a right angle apart, and one sample of each of two classes, opposite."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, -0.8], [-0.6, 0.8]], dtype=torch.float64)
    batch = Batch.of(x, torch.tensor([0, 0, 1, 2]))
    # D2_ij = 2; D2_ik = 2 - 2 S with S = 0.6, -0.6, -0.8 and 0.8; D2_kl = 4.
    hinges = [2.0 - (2.0 - 2.0 * S) + 0.5 for S in (0.6, 0.8)]
    output = Quadruplet(triplet_margin=0.5, quadruplet_margin=2.5)(batch)
    assert output.value.item() == pytest.approx(sum(hinges) / 2 + 0.5)
    # 4 triplets, half of them open, and (i, j) either way round with (k, l) either way round.
    assert output.active_fraction.item() == pytest.approx((2 + 4) / (4 + 4))
    output = Quadruplet(triplet_margin=0.5, quadruplet_margin=1.5)(batch)
    assert output.value.item() == pytest.approx(sum(hinges) / 2)
    assert output.active_fraction.item() == pytest.approx(2 / 8)


def test_with_the_largest_margins_every_tuple_is_active():
    x, labels, _ = BATCHES["clustered"]
    output = Quadruplet(triplet_margin=4.0, quadruplet_margin=4.0)(Batch.of(x, labels * 400))
    assert output.active_fraction == 1.0

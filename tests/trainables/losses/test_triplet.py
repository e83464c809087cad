"""The two triplet losses: hand-computed, beside each other, and with random miners."""

import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, embeddings, full_batch, on_circle
from trainables.loss_composition.batch import Batch
from trainables.losses.triplet import Triplet
from trainables.losses.triplet_l2 import TripletL2
from trainables.registry import load, names


def test_hand_computed_on_the_circle():
    batch = Batch.of(on_circle(0.0, 60.0, 90.0), torch.tensor([0, 0, 1]))
    output = Triplet(margin=0.6, miner="all_triplets")(batch)
    # From 0 degrees: positive 0.5, negative 0. From 60 degrees: positive 0.5, negative sqrt(3)/2.
    expected = ((0.0 - 0.5 + 0.6) + (0.75**0.5 - 0.5 + 0.6)) / 2
    assert output.value.item() == pytest.approx(expected)
    assert output.active_fraction == 1.0

    output = Triplet(margin=0.4, miner="all_triplets")(batch)
    assert output.value.item() == pytest.approx(0.75**0.5 - 0.5 + 0.4)
    assert output.active_fraction == 0.5


@pytest.mark.parametrize("miner", names("miners"))
@pytest.mark.parametrize("batch_name", ["clustered", "duplicates", "unbalanced"])
def test_on_squared_distances_it_is_twice_the_one_on_cosines_at_half_the_margin(miner, batch_name):
    x, labels, _ = BATCHES[batch_name]
    batch = full_batch(x.double(), labels)
    on_cosines, squared = Triplet(margin=0.2, miner=miner), TripletL2(margin=0.4, miner=miner)
    torch.testing.assert_close(squared(batch).value, 2.0 * on_cosines(batch).value)
    torch.testing.assert_close(squared(batch).active_fraction, on_cosines(batch).active_fraction)


@pytest.mark.parametrize("miner", names("miners"))
def test_it_is_random_if_its_miner_is(miner):
    loss = Triplet(miner=miner)
    assert loss.is_random == load("miners", miner).is_random
    if loss.is_random:
        batch = Batch.of(embeddings(24), BATCHES["balanced"][1])
        with pytest.raises(AssertionError, match="gets random numbers"):
            loss(batch)


def test_the_semihard_band_is_as_wide_as_the_margin_so_that_all_it_keeps_is_active():
    """Except negatives exactly a margin away, which the band holds and the hinge does not."""
    x, labels, _ = BATCHES["clustered"]
    batch = Batch.of(x.double(), labels)
    for margin in (0.05, 0.3):
        S_BB = batch.normalised_BD @ batch.normalised_BD.T
        behind = S_BB[:, :, None] - S_BB[:, None, :]
        positive = (labels[:, None] == labels) & ~torch.eye(24, dtype=torch.bool)
        is_kept = positive[:, :, None] & (labels[:, None] != labels)[:, None, :]
        is_kept &= (behind > 0.0) & (behind < margin)
        expected = (margin - behind[is_kept]).mean()
        value = Triplet(margin=margin, miner="semihard_band")(batch).value
        torch.testing.assert_close(value, expected)


def test_a_collapsed_batch_has_no_semihard_triplet_but_all_triplets_cost_the_margin():
    batch = Batch.of(torch.ones(6, 4), torch.tensor([0, 0, 0, 1, 1, 1]))
    assert Triplet(miner="semihard_hardest")(batch).active_fraction == 0.0
    output = Triplet(margin=0.25, miner="all_triplets")(batch)
    assert output.value.item() == pytest.approx(0.25)
    assert output.active_fraction == 1.0

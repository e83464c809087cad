"""The two triplet losses: hand-computed, beside each other, and with random miners."""

import pytest

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.triplet import Triplet
from podium.trainables.registry import load, names
from tests.trainables.losses.loss_cases import BATCHES, embeddings


@pytest.mark.parametrize("miner", names("miners"))
def test_it_is_random_if_its_miner_is(miner):
    loss = Triplet(miner=miner)
    assert loss.is_random == load("miners", miner).is_random
    if loss.is_random:
        batch = Batch.of(embeddings(24), BATCHES["balanced"][1])
        with pytest.raises(AssertionError, match="gets random numbers"):
            loss(batch)

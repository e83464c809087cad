"""The miners that have an equal in pytorch-metric-learning."""

import pytest

from benchmarks.twins._miners import DETERMINISTIC, twin_miner
from podium.trainables.loss_composition.miner_base import kept_mask
from tests.trainables.losses.loss_cases import BATCHES, full_batch
from tests.trainables.miners.test_every_triplet_miner import MARGIN, mine


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced", "clustered"])
@pytest.mark.parametrize("name", sorted(set(DETERMINISTIC) - {"all_triplets"}))
def test_the_triplets_are_the_same(name, batch_name):
    x, labels, _ = BATCHES[batch_name]
    x = x.double()
    theirs = [index.tolist() for index in twin_miner(name, MARGIN)(x, labels)]
    ours = kept_mask(*mine(name, full_batch(x, labels))).nonzero().tolist()
    assert len(ours) > 0
    assert list(map(tuple, ours)) == sorted(zip(*theirs, strict=True))

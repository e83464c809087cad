"""Every triplet miner against a slow one, which goes triplet by triplet."""

import pytest
import torch

from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.loss_composition.miner_base import kept_mask, pair_masks
from podium.trainables.losses._triplets import all_triplets, count_pairs
from podium.trainables.registry import load, names
from tests.trainables.losses.loss_cases import SMALL_BATCHES, full_batch
from tests.trainables.miners.slow_miners import CHOICES, mined

MARGIN = 0.4
RANDOM = [name for name in names("miners") if load("miners", name).is_random]


def mine(name, batch, margin=MARGIN):
    candidates = all_triplets(batch, batch.normalised_BD @ batch.normalised_BD.T)
    miner = load("miners", name)
    runs = miner.mine(candidates, margin)
    return candidates, runs


# Cosines of which many differ by a margin of 1 exactly.
AXES = torch.eye(2).repeat(2, 1) * torch.tensor([[1.0], [1.0], [1.0], [-1.0]])
CASES = {
    **{name: case[:2] for name, case in SMALL_BATCHES.items()},
    "axes": (AXES.repeat(2, 1), torch.tensor([0, 1, 0, 1, 1, 0, 1, 0])),
}


def double_batch(batch_name):
    x, labels = CASES[batch_name]
    return full_batch(x.double(), labels)


def test_all_miners_are_compared_and_may_be_chosen():
    assert tuple(sorted(CHOICES)) == names("miners")
    assert facts_of("triplet").parameters["miner"].legal.values == names("miners")


@pytest.mark.parametrize("batch_name", CASES)
@pytest.mark.parametrize("name", names("miners"))
def test_the_triplets_are_those_of_the_slow_miner(name, batch_name):
    batch = double_batch(batch_name)
    for margin in (MARGIN, 1.0, 0.0, -0.2):
        kept = kept_mask(*mine(name, batch, margin)).nonzero().tolist()
        assert list(map(tuple, kept)) == sorted(mined(batch, name, margin=margin))


@pytest.mark.parametrize("batch_name", SMALL_BATCHES)
@pytest.mark.parametrize("name", names("miners"))
def test_pairs_are_counted_as_often_as_they_stand_in_triplets(name, batch_name):
    candidates, runs = mine(name, double_batch(batch_name))
    mask_BBB = kept_mask(candidates, runs).double()
    positive_BB, negative_BB = count_pairs(candidates, runs)
    assert torch.equal(positive_BB, mask_BBB.sum(2))
    assert torch.equal(negative_BB, mask_BBB.sum(1))


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("largest", [0.0, 1.0 - 2.0**-24])
def test_the_least_and_the_largest_number_draw_a_negative(name, largest):
    x, labels, _ = SMALL_BATCHES["balanced"]
    batch = full_batch(x, labels)
    batch = batch._replace(uniform_BB=torch.full_like(batch.uniform_BB, largest))
    mask_BBB = kept_mask(*mine(name, batch))
    positive_BB, negative_BB = pair_masks(batch)
    assert torch.equal(mask_BBB.sum(2), positive_BB.long())
    assert not (mask_BBB & ~negative_BB[:, None, :]).any()


@pytest.mark.parametrize("name", names("miners"))
def test_no_gradient_flows_through_the_choice(name):
    x, labels, _ = SMALL_BATCHES["clustered"]
    candidates, runs = mine(name, full_batch(x.clone().requires_grad_(), labels))
    tensors = [part for part in (*candidates, *runs) if isinstance(part, torch.Tensor)]
    assert not any(tensor.requires_grad for tensor in tensors)

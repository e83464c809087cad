"""Semi-hard mining on one anchor with similarities chosen by hand."""

import torch

from trainables.loss_composition.miner_base import PairMasks, kept_mask, rank_negatives
from trainables.miners.semihard_band import SemihardBand
from trainables.miners.semihard_hardest import SemihardHardest

# Anchor 0, its positives 1 and 2, negatives 3 to 6.
SIMILARITIES = [1.0, 0.25, 0.75, 0.875, 0.5, 0.25, 0.5]


def negatives_of(miner, positive, margin):
    S_BB = torch.tensor([SIMILARITIES] * 7)
    positive_BB, negative_BB = torch.zeros(7, 7).bool(), torch.zeros(7, 7).bool()
    positive_BB[0, 1:3], negative_BB[0, 3:] = True, True
    candidates = rank_negatives(S_BB, PairMasks(positive_BB, negative_BB), 2, None)
    runs = miner.mine(candidates, margin)
    return kept_mask(candidates, runs)[0, positive].nonzero().flatten().tolist()


def test_the_hardest_easier_negatives_are_kept_all_of_them_where_they_are_equal():
    assert negatives_of(SemihardHardest, positive=2, margin=0.1) == [4, 6]


def test_a_positive_without_an_easier_negative_is_dropped():
    assert negatives_of(SemihardHardest, positive=1, margin=0.1) == []


def test_the_band_holds_its_far_end_but_not_the_positive():
    assert negatives_of(SemihardBand, positive=2, margin=0.25) == [4, 6]
    assert negatives_of(SemihardBand, positive=2, margin=0.5) == [4, 5, 6]
    assert negatives_of(SemihardBand, positive=1, margin=0.5) == []


def test_a_margin_that_is_not_positive_leaves_no_band():
    assert negatives_of(SemihardBand, positive=2, margin=0.0) == []
    assert negatives_of(SemihardBand, positive=2, margin=-0.2) == []

"""Distance-weighted sampling: every anchor is sampled, as often as its weights say."""

import math

import pytest
import torch
from pytorch_metric_learning.miners import DistanceWeightedMiner
from torch.func import vmap

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.miner_base import kept_mask, pair_masks, rank_negatives
from podium.trainables.miners.distance_weighted import DistanceWeighted
from tests.trainables.losses.loss_cases import balanced_labels, embeddings
from tests.trainables.miners.slow_miners import cosines, weights


def draw(x, labels, uniform_BB):
    batch = Batch.of(x, labels)
    candidates = rank_negatives(
        batch.normalised_BD @ batch.normalised_BD.T, pair_masks(batch), x.shape[1], uniform_BB
    )
    return kept_mask(candidates, DistanceWeighted.mine(candidates, 0.0))


def uniform(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("dim", [512, 1024])
def test_one_close_pair_of_negatives_leaves_the_other_anchors_their_triplets(dim):
    labels = balanced_labels(num_classes=16, samples_per_class=5)
    x = embeddings(80, dim=dim)
    x[79] = x[0] + 0.01 * x[79]
    theirs, _, _ = DistanceWeightedMiner()(x, labels)
    assert len(theirs.unique()) < 8  # what the weights of the whole batch's largest lead to

    mask_BBB = draw(x, labels, uniform(80, 80))
    assert torch.equal(mask_BBB.sum(2), pair_masks(Batch.of(x, labels)).positive_BR.long())


def test_a_close_negative_is_drawn_by_the_anchors_it_is_close_to():
    labels = balanced_labels(num_classes=16, samples_per_class=5)
    x = embeddings(80, dim=512)
    x[79] = x[0] + 0.01 * x[79]
    mask_BBB = draw(x, labels, uniform(80, 80))
    assert mask_BBB[0, 1:5, 79].all()
    assert mask_BBB[79, 75:79, 0].all()


def test_negatives_that_are_all_too_far_are_drawn_evenly():
    """At a right angle each, so sqrt(2) apart: 3 draws of 4 numbers, one in each quarter."""
    x = torch.eye(8, 512)
    labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    uniform_BB = torch.tensor([0.1, 0.3, 0.6, 0.8]).repeat(8, 2)
    negatives = draw(x, labels, uniform_BB)[0].nonzero().tolist()
    assert negatives == [[1, 5], [2, 6], [3, 7]]


@pytest.mark.parametrize("dim", [3, 16, 128])
def test_negatives_are_drawn_as_often_as_their_weights_say(dim):
    """Fails by chance for less than 1 seed in 10^6, by Bernstein's inequality."""
    labels = balanced_labels(num_classes=4, samples_per_class=4)
    # A common direction, so that some distances lie on each side of 1.4.
    x = embeddings(16, dim=dim, dtype=torch.float64) + 0.3
    masks = vmap(lambda uniform_BB: draw(x, labels, uniform_BB))(uniform(4000, 16, 16))
    drawn_BB, num_draws = masks.sum((0, 2)), 3 * 4000  # three positives each
    bound = math.log(2 * 16 * 12 * 1e6)  # two sides, of each anchor and negative

    batch = Batch.of(x, labels)
    for anchor, similarities in enumerate(cosines(batch)):
        negatives = [n for n in range(16) if labels[n] != labels[anchor]]
        expected = torch.tensor(weights(similarities, negatives, batch), dtype=torch.float64)
        expected = expected / expected.sum()
        variance = num_draws * expected * (1.0 - expected)
        tolerance = bound / 3.0 + (bound**2 / 9.0 + 2.0 * bound * variance).sqrt()
        drawn = drawn_BB[anchor, negatives]
        assert ((drawn - num_draws * expected).abs() <= tolerance).all()
        assert (drawn[expected == 0.0] == 0).all()

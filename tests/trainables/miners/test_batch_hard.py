import torch

from tests.trainables.losses.loss_cases import embeddings
from trainables.loss_composition.batch import Batch
from trainables.loss_composition.miner_base import kept_mask, pair_masks, rank_negatives
from trainables.miners.batch_hard import BatchHard


def triplets(x, labels):
    batch = Batch.of(x, torch.tensor(labels))
    candidates = rank_negatives(
        batch.normalised_BD @ batch.normalised_BD.T, pair_masks(batch), x.shape[1], None
    )
    runs = BatchHard.mine(candidates, 0.0)
    return kept_mask(candidates, runs).nonzero().tolist()


def test_an_anchor_alone_in_its_class_has_no_triplet_and_is_never_its_own_positive():
    found = triplets(embeddings(5), [0, 1, 1, 2, 3])
    assert [(a, p) for a, p, _ in found] == [(1, 2), (2, 1)]


def test_collapsed_embeddings_keep_all_triplets_since_none_is_harder():
    assert len(triplets(torch.ones(6, 4), [0, 0, 0, 1, 1, 1])) == 6 * 2 * 3

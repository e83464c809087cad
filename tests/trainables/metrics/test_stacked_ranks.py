"""Ranks of many embeddings at once against those of each by itself."""

import pytest
import torch

from podium.trainables.metrics import stacked_ranks as module
from podium.trainables.metrics.first_positive_rank import first_positive_ranks
from podium.trainables.metrics.stacked_ranks import stacked_ranks


def embeddings(seed, *, members=5, rows=90, dim=6):
    generator = torch.Generator().manual_seed(seed)
    labels_N = torch.randint(0, 20, (rows,), generator=generator)
    centres_PND = torch.randn(members, 20, dim, generator=generator)[:, labels_N]
    return centres_PND + torch.randn(members, rows, dim, generator=generator), labels_N


def assert_same(embeddings_PND, labels_N):
    found = list(stacked_ranks(embeddings_PND, labels_N))
    assert len(found) == len(embeddings_PND)
    for embeddings_ND, ranks in zip(embeddings_PND, found, strict=True):
        alone = first_positive_ranks(embeddings_ND, labels_N)
        assert torch.equal(ranks.ranks_Q, alone.ranks_Q)
        assert torch.equal(ranks.indices_Q, alone.indices_Q)
        assert torch.equal(ranks.labels_Q, alone.labels_Q)
        assert ranks.num_singletons == alone.num_singletons
        assert ranks.num_gallery == alone.num_gallery


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_of_each_embedding_by_itself(seed):
    assert_same(*embeddings(seed))


def test_ties_and_near_ties_are_settled_as_by_itself():
    embeddings_PND, labels_N = embeddings(7)
    embeddings_PND[0, 1::2] = embeddings_PND[0, ::2]  # exact ties
    embeddings_PND[1, 1::2] = embeddings_PND[1, ::2] * 3.0  # ties but for their lengths
    embeddings_PND[2, 1::2] = embeddings_PND[2, ::2] + 1e-7 * torch.randn(45, 6)
    embeddings_PND[3] = 1.0  # all coincide
    embeddings_PND[4, :3] = 0.0  # no direction
    assert_same(embeddings_PND, labels_N)


def test_queries_without_a_positive_are_left_out():
    embeddings_PND, labels_N = embeddings(3, rows=40)
    labels_N[5] = 99
    assert_same(embeddings_PND, labels_N)


def test_parts_that_fit_into_memory_make_no_difference(monkeypatch):
    monkeypatch.setattr(module, "_MAX_COSINES", 2 * 90**2)
    assert_same(*embeddings(1))

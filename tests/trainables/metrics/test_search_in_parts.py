"""However a gallery is cut, its parts rank as the slow oracle does and as one in memory does."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainables.metrics.ranking_oracle import (
    as_list,
    clustered,
    in_one,
    oracle_ranks_between,
)
from tests.trainables.metrics.test_first_positive_rank import (
    PRECISIONS,
    cut_into_small_blocks,
    multiply_in,
    tied_rows,
)
from trainables.metrics.first_positive_rank import first_positive_ranks
from trainables.metrics.search_in_parts import SearchInParts, ranks_in_parts


def cut(gallery, cuts):
    """Parts of the gallery between these rows."""
    edges = [0, *sorted(cuts), len(gallery[1])]
    return [
        tuple(of_gallery[start:stop] for of_gallery in gallery) for start, stop in pairwise(edges)
    ]


def searched(queries, parts, *, one_after_the_other=False):
    """Ranks by parts: merged afterwards, as many searchers do, or best positives handed on."""
    search = SearchInParts(*queries)
    best = torch.full((len(queries[1]),), -torch.inf, dtype=torch.float64)
    for part in parts:
        so_far = best if one_after_the_other else None
        best = torch.maximum(best, search.best_positives(*part, so_far))
    first, *others = [search.negatives_above(*part, best) for part in parts]
    above = sum(others, start=first)
    size = sum(len(labels) for _, labels in parts)
    return ranks_in_parts(queries[1], best, above, num_gallery=size)


@given(data=st.data(), queries=tied_rows(10), gallery=tied_rows(14), precision=PRECISIONS)
@settings(max_examples=200)
def test_tied_rows_rank_as_the_oracle_says_however_the_gallery_is_cut(
    data, queries, gallery, precision
):
    cuts = data.draw(st.lists(st.integers(0, len(gallery[1])), max_size=4))
    one_after_the_other = data.draw(st.booleans())
    with pytest.MonkeyPatch.context() as patch:
        cut_into_small_blocks(patch)
        multiply_in(patch, precision)
        ranks = searched(queries, cut(gallery, cuts), one_after_the_other=one_after_the_other)
    assert as_list(ranks, len(queries[1])) == oracle_ranks_between(*queries, *gallery)
    assert ranks.num_gallery == len(gallery[1])


@pytest.mark.parametrize("noise", [0.5, 2.0, 6.0])
def test_parts_rank_as_one_gallery_in_memory_does(noise):
    queries, gallery = clustered(300, 40, 64, noise=noise), clustered(2000, 40, 64, noise=noise)
    gallery = (gallery[0] + clustered(2000, 40, 64, noise=0.1, seed=1)[0], gallery[1])
    expected = first_positive_ranks(*in_one(queries, gallery))
    for cuts in ([], [1000], [3, 3, 1500, 1999]):
        ranks = searched(queries, cut(gallery, cuts))
        assert torch.equal(ranks.ranks_Q, expected.ranks_Q)
        assert torch.equal(ranks.indices_Q, expected.indices_Q)
        assert torch.equal(ranks.labels_Q, expected.labels_Q)
        assert ranks.num_singletons == expected.num_singletons


def test_ties_across_parts_count_against_the_query():
    queries = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    positive = torch.tensor([[2.0, 0.0]]), torch.tensor([0])
    negatives = torch.tensor([[3.0, 0.0], [0.0, 1.0], [5.0, 0.0]]), torch.tensor([1, 2, 3])
    parts = [positive, *cut(negatives, [1, 2])]
    assert searched(queries, parts).ranks_Q.tolist() == [3]
    assert searched(queries, parts[::-1]).ranks_Q.tolist() == [3]


def test_a_collapsed_gallery_ranks_last_everywhere():
    rows = torch.randn(1, 8, generator=torch.Generator().manual_seed(0)).expand(30, 8)
    labels = torch.arange(30) % 3
    ranks = searched((rows[:6], labels[:6]), cut((rows, labels), [7, 20]))
    assert ranks.ranks_Q.tolist() == [21] * 6


def test_one_class_alone_is_always_found_first_and_queries_without_positives_are_counted():
    queries, _ = clustered(5, 2, 4, noise=1.0)
    gallery, _ = clustered(9, 2, 4, noise=1.0)
    labels = torch.tensor([0, 7, 0, 0, 7])
    ranks = searched((queries, labels), cut((gallery, torch.zeros(9, dtype=torch.int64)), [4]))
    assert ranks.ranks_Q.tolist() == [1, 1, 1]
    assert ranks.indices_Q.tolist() == [0, 2, 3]
    assert ranks.num_singletons == 2


def test_positives_that_float32_cannot_tell_apart_are_compared_in_float64_across_parts():
    queries, gallery = clustered(40, 6, 16, noise=0.5), clustered(60, 6, 16, noise=0.5, seed=0)
    base = queries[0][:1]
    queries, gallery = (
        (base + 3e-4 * embeddings, labels) for embeddings, labels in (queries, gallery)
    )
    ranks = searched(queries, cut(gallery, [10, 31]))
    assert as_list(ranks, 40) == oracle_ranks_between(*queries, *gallery)

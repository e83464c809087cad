"""nDCG@K and mean label distance@K against slow loops, and what ties do to them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from podium.trainables.dataset_interface.label_distances import VectorDistances
from podium.trainables.metrics import label_ranking as _label_ranking
from podium.trainables.metrics.label_ranking import label_ranking
from podium.trainables.metrics.label_scores import mean_label_distance_scores, ndcg_scores

KS = (1, 2, 5, 100)


def distance(a, b, by_direction):
    if by_direction:
        a, b = ([v / math.hypot(*x) for v in x] for x in (a, b))
    return math.dist(a, b)


def oracle_neighbours(embeddings, labels, query, by_direction):
    """Label distances of all others by embedding; of equally near ones the worst first."""
    others = [index for index in range(len(embeddings)) if index != query]
    nearness = {o: distance(embeddings[query], embeddings[o], by_direction) for o in others}
    ordered = sorted(others, key=lambda o: (round(nearness[o], 9), -labels[query][o]))
    return [labels[query][other] for other in ordered]


def oracle_ndcg(found, k):
    def dcg(distances):
        return sum(
            2 ** (-math.log2(y + 1)) / math.log2(rank + 1)
            for rank, y in enumerate(distances[:k], start=1)
        )

    return dcg(found) / dcg(sorted(found))


def oracle_scores(embeddings, labels, by_direction):
    rows = embeddings.double().tolist()
    found = [oracle_neighbours(rows, labels, q, by_direction) for q in range(len(rows))]
    return {
        **{("ndcg", k): np.mean([oracle_ndcg(row, k) for row in found]) for k in KS},
        **{("mean_label_distance", k): np.mean([np.mean(row[:k]) for row in found]) for k in KS},
    }


def scores(embeddings, labels, by_direction=True):
    ranking = label_ranking(embeddings, labels, max(KS), by_direction=by_direction)
    made = (
        *ndcg_scores(ranking, KS, role="val"),
        *mean_label_distance_scores(ranking, KS, role="val"),
    )
    assert {score.queries for score in made} == {score.gallery for score in made}
    return {(score.metric, score.k): score.value for score in made}


def random_case(num_images, dim, seed):
    generator = np.random.default_rng(seed)
    embeddings = generator.normal(size=(num_images, dim)) + 3.0
    return torch.from_numpy(embeddings), VectorDistances(generator.normal(size=(num_images, 2)))


def all_distances(labels):
    every = np.arange(len(labels))
    return labels.between(every, every).tolist()


@pytest.mark.parametrize("by_direction", [True, False])
@pytest.mark.parametrize("num_images", [2, 3, 40])
def test_scores_equal_those_of_slow_loops(num_images, by_direction):
    embeddings, labels = random_case(num_images, 4, seed=num_images)
    expected = oracle_scores(embeddings, all_distances(labels), by_direction)
    assert scores(embeddings, labels, by_direction) == pytest.approx(expected, rel=1e-9)


def test_chunks_do_not_show(monkeypatch):
    embeddings, labels = random_case(40, 4, seed=1)
    whole = scores(embeddings, labels)
    monkeypatch.setattr(_label_ranking, "_CHUNK_QUERIES", 7)
    assert scores(embeddings, labels) == pytest.approx(whole, rel=1e-12)


@given(st.integers(0, 2**31), st.integers(2, 5))
@example(2832, 4)  # equal distances around an edge of any grid of 1e-12
def test_ties_count_against_the_query(seed, num_places):
    """Few places for many images: nearly every query has ties, also at the K-th neighbour."""
    generator = np.random.default_rng(seed)
    places = torch.from_numpy(generator.normal(size=(num_places, 3)))
    embeddings = places[torch.from_numpy(generator.integers(0, num_places, 14))]
    labels = VectorDistances(generator.integers(0, 4, 14))
    expected = oracle_scores(embeddings, all_distances(labels), by_direction=True)
    assert scores(embeddings, labels) == pytest.approx(expected, rel=1e-9)


def test_a_collapsed_embedding_gets_the_worst_order_there_is():
    labels = VectorDistances(np.arange(6.0))
    collapsed = scores(torch.ones(6, 3), labels)
    worst = np.mean([max(row) for row in all_distances(labels)])
    assert collapsed["mean_label_distance", 1] == pytest.approx(worst)


def test_what_cannot_be_ranked_is_refused():
    _, labels = random_case(5, 2, seed=0)
    with pytest.raises(ValueError, match="finite, but 1 of 5"):
        scores(torch.tensor([[1.0, 2.0]] * 4 + [[math.nan, 0.0]]), labels)
    with pytest.raises(ValueError, match="got 4 embeddings and labels of 5"):
        scores(torch.ones(4, 2), labels)

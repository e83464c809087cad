import re

import pytest
import torch

from podium.trainables.metrics.first_positive_rank import first_positive_ranks
from podium.trainables.metrics.recall_at_k import recall_class_hits, recall_scores
from podium.trainables.trial_reports import ClassHits, Score
from tests.trainables.metrics.ranking_oracle import clustered, cosine


def hits_by_sorting(embeddings, labels, k):
    """Whether each query finds its class among its k nearest, by sorting all cosines."""
    rows, hits = embeddings.double().tolist(), []
    for i, query in enumerate(rows):
        others = [(cosine(query, row), j) for j, row in enumerate(rows) if j != i]
        nearest = sorted(others, reverse=True)[:k]
        hits.append(any(labels[j] == labels[i] for _, j in nearest))
    return hits


@pytest.mark.parametrize("k", [1, 2, 4, 8, 59])
def test_recall_is_the_part_of_queries_with_a_positive_among_the_nearest(k):
    embeddings, labels = clustered(60, 10, 8, noise=2.0)
    expected = hits_by_sorting(embeddings, labels, k)
    (score,) = recall_scores(first_positive_ranks(embeddings, labels), [k], role="val")
    assert score == Score(
        role="val",
        metric="recall",
        k=k,
        value=sum(expected) / 60,
        hits=sum(expected),
        queries=60,
        gallery=60,
    )


def test_class_hits_add_up_to_the_hits():
    embeddings, labels = clustered(60, 10, 8, noise=2.0)
    labels = labels * 3
    expected = hits_by_sorting(embeddings, labels, 2)
    found = recall_class_hits(first_positive_ranks(embeddings, labels), 2, role="test")
    classes = sorted(set(labels.tolist()))
    assert found == ClassHits(
        role="test",
        k=2,
        class_ids=tuple(classes),
        queries=tuple(labels.tolist().count(c) for c in classes),
        hits=tuple(
            sum(hit for hit, label in zip(expected, labels, strict=True) if label == c)
            for c in classes
        ),
    )


def test_a_class_of_one_image_is_no_query_but_stays_in_the_gallery():
    embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.2], [1.0, 0.1]])
    ranks = first_positive_ranks(embeddings, torch.tensor([0, 0, 1]))
    (score,) = recall_scores(ranks, [1], role="val")
    assert (score.value, score.queries, score.gallery) == (0.0, 2, 3)
    assert recall_class_hits(ranks, 1, role="val").class_ids == (0,)


def test_no_query_at_all_is_an_error():
    ranks = first_positive_ranks(torch.eye(3), torch.arange(3))
    message = "another image of its class, but role 'test' has none among 3 queries"
    with pytest.raises(ValueError, match=message):
        recall_scores(ranks, [1], role="test")


def test_k_below_one_is_an_error():
    ranks = first_positive_ranks(torch.eye(2), torch.tensor([0, 0]))
    message = re.escape("k of Recall@k must be at least 1, but got 0")
    with pytest.raises(ValueError, match=message):
        recall_scores(ranks, [1, 0], role="val")
    with pytest.raises(ValueError, match=message):
        recall_class_hits(ranks, 0, role="val")

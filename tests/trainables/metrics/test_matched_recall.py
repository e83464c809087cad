"""Recall@K in galleries cut to a size, against the oracle of ranks on each draw."""

import pytest
import torch

from tests.trainables.metrics.ranking_oracle import (
    clustered,
    oracle_ranks,
    oracle_ranks_between,
)
from trainables.metrics import matched_recall as module
from trainables.metrics.class_retrieval import ClassRetrieval
from trainables.metrics.first_positive_rank import first_positive_ranks
from trainables.metrics.matched_recall import GallerySize, matched_recall_scores
from trainables.metrics.recall_at_k import recall_scores


@pytest.fixture
def draws(monkeypatch):
    """Positions of the images of each draw."""
    kept, draw = [], module._draw

    def note(*arguments):
        kept.append(draw(*arguments))
        return kept[-1]

    monkeypatch.setattr(module, "_draw", note)
    return kept


def matched(embeddings, labels, ks, size, *, num_draws=10, **options):
    found = ClassRetrieval(embeddings_ND=embeddings, labels_N=labels, **options)
    return matched_recall_scores(found, ks, size, num_draws=num_draws)


def hits_and_queries(ranks, k):
    ranks = [rank for rank in ranks if rank is not None]
    return sum(rank <= k for rank in ranks), len(ranks)


def test_hits_and_queries_are_summed_over_the_draws(draws):
    embeddings, labels = clustered(90, 12, 8, noise=1.5)
    size = GallerySize(num_classes=5, num_images=20)
    one, four = matched(embeddings, labels, (1, 4), size, role="test", num_draws=6)
    assert len(draws) == 6
    for score in (one, four):
        found = [hits_and_queries(oracle_ranks(embeddings[k], labels[k]), score.k) for k in draws]
        assert score.hits == sum(hits for hits, _ in found)
        assert score.queries == sum(queries for _, queries in found)
        assert score.value == score.hits / score.queries
        assert (score.metric, score.role, score.gallery) == ("matched_recall", "test", 20)
    assert all(len(labels[kept].unique()) <= 5 and len(kept) == 20 for kept in draws)
    assert len({tuple(kept.tolist()) for kept in draws}) == 6


def test_all_images_of_the_classes_stay_where_only_classes_are_matched(draws):
    embeddings, labels = clustered(90, 12, 8, noise=1.5)
    matched(embeddings, labels, (1,), GallerySize(num_classes=5), role="val")
    for kept in draws:
        classes = labels[kept].unique()
        assert len(classes) == 5
        assert torch.equal(kept, torch.isin(labels, classes).nonzero().squeeze(1))


def test_every_class_is_drawn_with_the_same_chance(draws):
    labels = torch.arange(40) % 8
    embeddings, _ = clustered(40, 8, 4, noise=1.0)
    size = GallerySize(num_classes=2)
    matched(embeddings, labels, (1,), size, role="test", num_draws=400)
    times = torch.stack([torch.bincount(labels[kept], minlength=8) > 0 for kept in draws]).sum(0)
    # Each is in a quarter of 400 draws; six standard deviations are 52.
    assert ((times - 100).abs() < 52).all()


def test_one_draw_of_all_classes_is_recall():
    embeddings, labels = clustered(90, 12, 8, noise=1.5)
    size = GallerySize(num_classes=len(labels.unique()))
    found = matched(embeddings, labels, (1, 2), size, role="test", num_draws=1)
    plain = recall_scores(first_positive_ranks(embeddings, labels), (1, 2), role="test")
    assert [(s.value, s.hits, s.queries, s.gallery) for s in found] == [
        (s.value, s.hits, s.queries, s.gallery) for s in plain
    ]


def test_fewer_classes_are_easier_to_tell_apart():
    embeddings, labels = clustered(400, 40, 8, noise=1.5)
    few, many = (
        matched(embeddings, labels, (1,), GallerySize(num_classes=n), role="test") for n in (5, 30)
    )
    assert few[0].value > many[0].value + 0.1


def test_draws_follow_from_the_seed_alone(draws):
    labels = torch.arange(60) % 10
    size = GallerySize(num_classes=4, num_images=15)
    for embeddings_seed, seed in ((0, 7), (1, 7), (1, 8)):
        embeddings, _ = clustered(60, 10, 4, noise=1.0, seed=embeddings_seed)
        matched(embeddings, labels, (1,), size, role="test", seed=seed)
    first, second, third = (draws[i : i + 10] for i in (0, 10, 20))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, third, strict=True))


def test_a_gallery_is_cut_down_and_all_queries_of_its_classes_ask(draws):
    embeddings, labels = clustered(90, 8, 8, noise=1.5)
    is_gallery = torch.arange(90) % 3 == 0
    size = GallerySize(num_classes=4, num_images=6)
    (score,) = matched(
        embeddings, labels, (2,), size, role="test", is_gallery_N=is_gallery, num_draws=5
    )
    hits = queries = 0
    for kept in draws:
        found, asked = kept[is_gallery[kept]], kept[~is_gallery[kept]]
        assert len(found) == 6
        assert torch.equal(
            asked, (~is_gallery & torch.isin(labels, labels[asked])).nonzero()[:, 0]
        )
        ranks = oracle_ranks_between(
            embeddings[asked], labels[asked], embeddings[found], labels[found]
        )
        hits, queries = (
            a + b for a, b in zip((hits, queries), hits_and_queries(ranks, 2), strict=True)
        )
    assert (score.hits, score.queries, score.gallery) == (hits, queries, 6)


@pytest.mark.parametrize(
    "size",
    [
        GallerySize(num_classes=4),
        GallerySize(num_classes=0),
        GallerySize(num_classes=2, num_images=0),
    ],
)
def test_a_gallery_that_cannot_be_drawn_is_an_error(size):
    with pytest.raises(ValueError, match="a gallery must have 1 to 3 classes"):
        matched(torch.eye(6), torch.arange(6) % 3, (1,), size, role="test")


def test_galleries_of_single_images_are_an_error_unless_misses_are_counted():
    size = GallerySize(num_classes=3, num_images=1)
    with pytest.raises(ValueError, match="no query has another image"):
        matched(torch.eye(6), torch.arange(6) % 3, (1,), size, role="test")
    (score,) = matched(torch.eye(6), torch.arange(6) % 3, (1,), size, role="test", strict=True)
    assert (score.value, score.queries) == (0.0, 10)

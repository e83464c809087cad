"""k-means, NMI and F1 against slow loops, scikit-learn and a case by hand."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from podium.trainables.metrics import _faiss
from podium.trainables.metrics import k_means as module
from podium.trainables.metrics.clustering import agreement, clustering_scores
from podium.trainables.metrics.clustering_facts import ITERATIONS, SEED
from podium.trainables.metrics.k_means import k_means
from tests.trainables.metrics.ranking_oracle import clustered

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)


def oracle_f1(labels, clusters):
    """Every pair of images on its own."""
    pairs = list(itertools.combinations(zip(labels, clusters, strict=True), 2))
    found = [a[1] == b[1] for a, b in pairs]
    right = [a[0] == b[0] for a, b in pairs]
    both = sum(f and r for f, r in zip(found, right, strict=True))
    if both == 0:
        return 0.0
    precision, recall = both / sum(found), both / sum(right)
    return 2.0 * precision * recall / (precision + recall)


def oracle_k_means(points, num_clusters):
    """One image and one cluster at a time."""
    start = torch.randperm(len(points), generator=torch.Generator().manual_seed(SEED))
    centres = [points[index] for index in start.tolist()[:num_clusters]]

    def squared(a, b):
        return math.fsum((v - w) ** 2 for v, w in zip(a, b, strict=True))

    def nearest(point):
        distances = [squared(point, centre) for centre in centres]
        least = min(distances)
        return next(index for index, d in enumerate(distances) if d <= least + 1e-11)

    clusters = [nearest(point) for point in points]
    for _ in range(ITERATIONS):
        lengths = [
            round(squared(p, centres[c]), 11) for p, c in zip(points, clusters, strict=True)
        ]
        farthest = sorted(range(len(points)), key=lambda index: -lengths[index])
        for cluster in range(num_clusters):
            inside = [p for p, c in zip(points, clusters, strict=True) if c == cluster]
            if inside:
                centres[cluster] = [math.fsum(v) / len(inside) for v in zip(*inside, strict=True)]
            else:
                centres[cluster] = points[farthest.pop(0)]
        clusters = [nearest(point) for point in points]
    return clusters


@given(pairs=LABELS)
def test_nmi_and_f1_equal_the_oracle(pairs):
    labels, clusters = map(list, zip(*pairs, strict=True))
    nmi, f1 = agreement(np.array(labels), np.array(clusters))
    assert nmi == pytest.approx(normalized_mutual_info_score(labels, clusters), abs=1e-9)
    assert f1 == pytest.approx(oracle_f1(labels, clusters), abs=1e-12)
    assert 0.0 <= nmi <= 1.0


@pytest.mark.parametrize("dim", [2, 8])
def test_clusters_equal_those_of_slow_loops(dim, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK_IMAGES", 7)
    monkeypatch.setattr(module, "_EXACT_IMAGES", 3)
    for seed in range(8):
        points, _ = clustered(60, 6, dim, noise=0.8, seed=seed)
        assert k_means(points, 6).tolist() == oracle_k_means(points.double().tolist(), 6)


def test_a_cluster_that_is_left_empty_continues_from_the_farthest_image():
    # Duplicates: several centres start on one image, and all but the first of these are empty.
    generator = torch.Generator().manual_seed(1)
    for _ in range(20):
        points = torch.randint(0, 3, (20, 2), generator=generator).float()
        num_different = len(points.unique(dim=0))
        clusters = k_means(points, num_different)
        assert clusters.tolist() == oracle_k_means(points.double().tolist(), num_different)
        # Each of the different images ends in a cluster of its own.
        assert len(clusters.unique()) == num_different


def test_clusters_far_apart_are_found_whatever_the_chunks(monkeypatch):
    embeddings, labels = clustered(400, 2, 16, noise=0.05)
    whole = clustering_scores(embeddings, labels, role="test")
    monkeypatch.setattr(module, "_CHUNK_IMAGES", 33)
    assert clustering_scores(embeddings, labels, role="test") == whole
    assert [score.value for score in whole] == [1.0, 1.0]


def test_the_state_of_the_random_generator_is_neither_read_nor_changed():
    embeddings, labels = clustered(100, 8, 16, noise=1.0)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = clustering_scores(embeddings, labels, role="test")
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert clustering_scores(embeddings, labels, role="test") == first


def test_scores_are_of_unit_vectors_and_count_all_images():
    embeddings, labels = clustered(100, 8, 16, noise=1.0)
    labels[3] = 50  # alone in its class: clustered with the others, in one cluster more
    lengths = torch.logspace(-3, 3, 100, base=2.0)[:, None].round()
    lengths[lengths == 0] = 1.0
    nmi, f1 = clustering_scores(embeddings, labels, role="test")
    again = clustering_scores(embeddings * lengths, labels, role="test")
    assert [score.value for score in again] == pytest.approx([nmi.value, f1.value], abs=1e-12)
    assert (nmi.metric, f1.metric) == ("nmi", "f1")
    for score in (nmi, f1):
        assert (score.queries, score.gallery, score.k, score.hits) == (100, 100, None, None)


def test_a_fully_collapsed_embedding_has_no_information():
    embeddings = torch.randn(1, 8, generator=torch.Generator().manual_seed(0)).expand(30, 8)
    nmi, f1 = clustering_scores(embeddings, torch.arange(30) % 3, role="test")
    assert nmi.value == pytest.approx(0.0, abs=1e-12)
    # All pairs are found: 135 of 435 are right.
    assert f1.value == pytest.approx(2 * 135 / (135 + 435))


def test_embeddings_that_are_not_finite_are_an_error():
    embeddings, labels = clustered(10, 2, 4, noise=1.0)
    embeddings[2, 1] = torch.inf
    with pytest.raises(ValueError, match="1 of 10 hold NaN or infinity"):
        clustering_scores(embeddings, labels, role="test")


@pytest.mark.parametrize("dim", [4, 24])
def test_faiss_changes_no_cluster_and_neither_does_what_is_not_searched_again(dim, monkeypatch):
    pytest.importorskip("faiss")
    # Hundreds of clusters that move for many iterations, some of them emptied by duplicates.
    embeddings, _ = clustered(3000, 60, dim, noise=0.7)
    embeddings[:200] = embeddings[200:400]
    with_faiss = k_means(embeddings, 300)
    monkeypatch.setattr(_faiss, "can_search", lambda device: False)
    assert torch.equal(k_means(embeddings, 300), with_faiss)

    assign = module._Clustering._assign
    monkeypatch.setattr(
        module._Clustering, "_assign", lambda self, moved: assign(self, torch.ones_like(moved))
    )
    assert torch.equal(k_means(embeddings, 300), with_faiss)


def test_faiss_finds_the_same_clusters_by_its_default_seed():
    faiss = pytest.importorskip("faiss")
    embeddings, _ = clustered(900, 20, 32, noise=1.0)
    theirs = faiss.Kmeans(32, 20, niter=ITERATIONS)
    theirs.train(embeddings.numpy())
    clusters = theirs.index.search(embeddings.numpy(), 1)[1][:, 0]
    assert k_means(embeddings, 20).tolist() == clusters.tolist()


@pytest.mark.gpu
def test_a_gpu_finds_the_clusters_of_the_cpu():
    embeddings, _ = clustered(3000, 50, 64, noise=2.0)
    assert torch.equal(k_means(embeddings.cuda(), 50).cpu(), k_means(embeddings, 50))

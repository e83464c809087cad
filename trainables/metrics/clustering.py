"""NMI and F1: how well clusters of embeddings agree with the classes. N = images."""

import numpy as np
import numpy.typing as npt
from torch import Tensor

from podium.trainables.metrics._cosines import check_finite, unit_float32
from podium.trainables.metrics.k_means import k_means
from podium.trainables.trial_reports import Score

_Counts = npt.NDArray[np.int64]


def agreement(labels_N: _Counts, clusters_N: _Counts) -> tuple[float, float]:
    """NMI and F1 of classes and clusters, from the counts of their table; absent cells not made.

    NMI is the normalised mutual information, 2 I / (H + H): the arithmetic mean, as scikit-learn.
    F1 is over pairs of images: found if both share a cluster, right if both share a class. It is
    0 where no pair shares either.

    Source: Song et al. 2016, Deep Metric Learning via Lifted Structured Feature Embedding; F1 is
    2 P R / (P + R) = 2 TP / (pairs within clusters + pairs within classes).
    """
    _, class_of_N, class_sizes = np.unique(labels_N, return_inverse=True, return_counts=True)
    _, cluster_of_N, sizes = np.unique(clusters_N, return_inverse=True, return_counts=True)
    cells, joint = np.unique(class_of_N * len(sizes) + cluster_of_N, return_counts=True)
    num_images = len(labels_N)
    # Of independent partitions every cell has the product of the sizes over N.
    independent = class_sizes[cells // len(sizes)] * sizes[cells % len(sizes)] / num_images
    information = float((joint / num_images * np.log(joint / independent)).sum())
    entropies = _entropy(class_sizes) + _entropy(sizes)
    pairs = _pairs(class_sizes) + _pairs(sizes)
    # Two partitions of one part each are the same partition.
    nmi = min(max(2.0 * information / entropies, 0.0), 1.0) if entropies else 1.0
    return nmi, 2 * _pairs(joint) / pairs if pairs else 0.0


def clustering_scores(embeddings_ND: Tensor, labels_N: Tensor, *, role: str) -> tuple[Score, ...]:
    """NMI and F1 of as many k-means clusters as there are classes, on embeddings of length 1.

    All images are clustered, those alone in their class too: the number of clusters follows from
    them. `trainables.metrics.clustering_facts` has seed, start and iterations.

    Args:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        role: ``val`` or ``test``, copied to the scores.

    Raises:
        ValueError: an embedding is not finite.
    """
    check_finite(embeddings_ND)
    labels = labels_N.cpu().numpy()
    clusters_N = k_means(unit_float32(embeddings_ND), len(np.unique(labels)))
    values = agreement(labels, clusters_N.cpu().numpy())
    num_images = len(labels)
    return tuple(
        Score(role=role, metric=metric, value=value, queries=num_images, gallery=num_images)
        for metric, value in zip(("nmi", "f1"), values, strict=True)
    )


def _entropy(sizes: _Counts) -> float:
    parts = sizes / sizes.sum()
    return float(-(parts * np.log(parts)).sum())


def _pairs(sizes: _Counts) -> int:
    return int((sizes * (sizes - 1) // 2).sum())

"""k-means of embeddings: the same clusters on every machine, from one seed.

Written in torch rather than left to faiss, whose presence and version would change the scores.
Everything that is compared is float64, and what then agrees to 1e-12 is a tie.

N = images, P = a chunk of them, C = clusters, D = embedding dimension.
"""

import torch
from torch import Tensor

from trainables.metrics._cosines import full_precision, slices

__all__ = ["ITERATIONS", "SEED", "k_means"]

# One random start and 20 iterations, as pytorch-metric-learning has faiss do it; this seed draws
# the images that faiss draws by its default. It is not the trial's: all losses start from the
# same images.
SEED = 1235
ITERATIONS = 20

_CHUNK_IMAGES = 1024
_TIE_DECIMALS = 12


def k_means(points_ND: Tensor, num_clusters: int) -> Tensor:
    """Lloyd's algorithm from ``num_clusters`` images drawn without replacement.

    It ends after `ITERATIONS`, or when no image moves and no cluster is empty. An image as near to
    several centres goes to the first of them. A cluster that lost all its images goes on from the
    image farthest from its own centre, the next such cluster from the next farthest.

    Args:
        points_ND: finite, on any device; clustered by Euclidean distance as they are.
        num_clusters: at most N.

    Returns:
        int64 (N,): the cluster of each image, on the device of the points.
    """
    start_C = torch.randperm(len(points_ND), generator=torch.Generator().manual_seed(SEED))
    with full_precision():
        centres_CD = points_ND[start_C[:num_clusters].to(points_ND.device)].double()
        clusters_N, distances_N = _assign(points_ND, centres_CD)
        for _ in range(ITERATIONS):
            centres_CD = _centres(points_ND, clusters_N, distances_N, num_clusters)
            before_N = clusters_N
            clusters_N, distances_N = _assign(points_ND, centres_CD)
            # An empty cluster may still reach an image though none moved this time.
            sizes_C = torch.bincount(clusters_N, minlength=num_clusters)
            if torch.equal(clusters_N, before_N) and int(sizes_C.min()) > 0:
                break
    return clusters_N


def _assign(points_ND: Tensor, centres_CD: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest centre of each image, and the squared distance to it."""
    half_squares_C = centres_CD.square().sum(1) / 2
    clusters, distances = [], []
    for chunk in slices(0, len(points_ND), _CHUNK_IMAGES):
        points_PD = points_ND[chunk].double()
        # |p - c|^2 = |p|^2 - 2 (p c - |c|^2 / 2)
        nearness_PC = torch.addmm(-half_squares_C, points_PD, centres_CD.T)
        nearness_PC.round_(decimals=_TIE_DECIMALS)
        # Unlike max, argmax promises the first of equal values.
        clusters_P = nearness_PC.argmax(1)
        nearest_P = nearness_PC.gather(1, clusters_P[:, None]).squeeze(1)
        clusters.append(clusters_P)
        distances.append(points_PD.square().sum(1) - 2.0 * nearest_P)
    return torch.cat(clusters), torch.cat(distances).round_(decimals=_TIE_DECIMALS)


def _centres(
    points_ND: Tensor, clusters_N: Tensor, distances_N: Tensor, num_clusters: int
) -> Tensor:
    """The mean of each cluster; the farthest images for clusters without any."""
    sums_CD = points_ND.new_zeros(num_clusters, points_ND.shape[1], dtype=torch.float64)
    for chunk in slices(0, len(points_ND), _CHUNK_IMAGES):
        sums_CD.index_add_(0, clusters_N[chunk], points_ND[chunk].double())
    sizes_C = torch.bincount(clusters_N, minlength=num_clusters)
    centres_CD = sums_CD / sizes_C[:, None].clamp(min=1)
    empty = (sizes_C == 0).nonzero().squeeze(1)
    farthest = distances_N.argsort(descending=True, stable=True)[: len(empty)]
    centres_CD[empty] = points_ND[farthest].double()
    return centres_CD

"""What the nearest images of every query are worth by their labels.

N = images, each a query against all others, Q = a chunk of the queries, K = neighbours,
D = embedding dimension.
"""

import numpy as np
import torch
from torch import Tensor

from podium.trainables.dataset_interface.label_distances import LabelDistances
from podium.trainables.metrics._cosines import check_finite, full_precision, slices, unit_float64

# A chunk holds a few matrices of this many rows and N columns, in float64.
_CHUNK_QUERIES = 256

# Neighbours whose squared distances (embeddings have length 1 on average) follow each other
# within this are ties: far above the rounding of float64, far below that of float32 embeddings.
# Rounding to a grid would not do: it parts equal distances that lie around an edge of the grid.
_TIE = 1e-12


def label_ranking(
    embeddings_ND: Tensor, labels: LabelDistances, num_neighbours: int, *, by_direction: bool
) -> tuple[Tensor, Tensor]:
    """Rank all other images for every image; itself is left out by its index.

    Distances are computed in float64. Ties count against the query: of images at the same distance
    the one with the farther label comes first, so a collapsed embedding gets its worst ranking.

    Args:
        embeddings_ND: embeddings of any float type, on any device.
        labels: labels of the same N images.
        num_neighbours: K; with fewer other images, all of them.
        by_direction: whether nearness is that of unit vectors (the order of cosines), or Euclidean
            nearness of the embeddings as they are.

    Returns:
        (found_NK, ideal_NK), float64 on the CPU: label distances of each query's K nearest by
        embedding, the nearest first; and its K smallest label distances, ascending.

    Raises:
        ValueError: an embedding is not finite, or there are fewer than two images.
    """
    check_finite(embeddings_ND)
    num_images = len(embeddings_ND)
    if num_images < 2 or len(labels) != num_images:
        raise ValueError(
            "a ranking needs two or more images with their label distances; got "
            f"{num_images} embeddings and labels of {len(labels)}"
        )
    num_found = min(num_neighbours, num_images - 1)
    every = np.arange(num_images)
    found, ideal = [], []
    with full_precision():
        points_ND = unit_float64(embeddings_ND) if by_direction else _scaled(embeddings_ND)
        for queries in slices(0, num_images, _CHUNK_QUERIES):
            own_Q = torch.arange(queries.start, queries.stop, device=points_ND.device)
            distances = labels.between(every[queries], every)
            labels_QN = torch.from_numpy(distances).to(points_ND.device)
            squared_QN = _squared_distances(points_ND, queries)
            # Neither by embedding nor by label is a query its own neighbour.
            squared_QN.scatter_(1, own_Q[:, None], torch.inf)
            labels_QN.scatter_(1, own_Q[:, None], torch.inf)
            found.append(_labels_of_nearest(squared_QN, labels_QN, num_found))
            ideal.append(labels_QN.topk(num_found, largest=False).values)
    return torch.cat(found).cpu(), torch.cat(ideal).cpu()


def _scaled(embeddings_ND: Tensor) -> Tensor:
    """Embeddings in float64 about their mean, of length 1 on average (root mean square)."""
    points_ND = embeddings_ND.double()
    points_ND = points_ND - points_ND.mean(0)
    length = points_ND.square().sum(1).mean().sqrt()
    return points_ND / length.clamp(min=torch.finfo(torch.float64).tiny)


def _squared_distances(points_ND: Tensor, queries: slice) -> Tensor:
    squares_N = points_ND.square().sum(1)
    return squares_N[queries, None] + squares_N - 2.0 * points_ND[queries] @ points_ND.T


def _labels_of_nearest(squared_QN: Tensor, labels_QN: Tensor, num_found: int) -> Tensor:
    farthest_Q1 = squared_QN.topk(num_found, largest=False).values[:, -1:]
    # All that tie with the last one are candidates for its rank.
    num_candidates = int((squared_QN <= farthest_Q1 + _TIE).sum(1).max())
    near = squared_QN.topk(num_candidates, largest=False)
    is_farther_QC = near.values.diff(dim=1, prepend=near.values[:, :1]) > _TIE
    labels_QC, order_QC = labels_QN.gather(1, near.indices).sort(descending=True, stable=True)
    order_QC = is_farther_QC.cumsum(1).gather(1, order_QC).argsort(stable=True)
    return labels_QC.gather(1, order_QC)[:, :num_found]

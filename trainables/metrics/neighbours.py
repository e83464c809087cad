"""The nearest images of a few queries, for looking at.

Q = queries, N = rows, K = neighbours, D = embedding dimension.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from trainables.metrics._cosines import check_finite, full_precision, unit_float32

__all__ = ["neighbours"]

# Queries are taken this many at a time, which bounds the memory at this many times N cosines.
_CHUNK_QUERIES = 256


def neighbours(
    embeddings_ND: Tensor,
    query_indices: Sequence[int],
    num_neighbours: int,
    *,
    by_direction: bool = True,
) -> tuple[Tensor, Tensor]:
    """Indices and similarities of each query's nearest rows, best first.

    The query itself is left out by its index. Equal similarities come in any order, so nothing is
    scored by this list.

    Args:
        embeddings_ND: of any length, on any device.
        query_indices: rows that are queries.
        num_neighbours: how many to list; fewer where there are not so many other rows.
        by_direction: whether a similarity is a cosine, or the negative Euclidean distance of the
            embeddings as they are.

    Returns:
        (indices_QK int64, similarities_QK float32), both on the CPU.

    Raises:
        ValueError: an embedding is not finite.
    """
    check_finite(embeddings_ND)
    num_listed = min(num_neighbours, len(embeddings_ND) - 1)
    queries_Q = torch.as_tensor(query_indices, dtype=torch.int64, device=embeddings_ND.device)
    found = []
    with full_precision():
        points_ND = unit_float32(embeddings_ND) if by_direction else embeddings_ND.float()
        for chunk_Q in torch.split(queries_Q, _CHUNK_QUERIES):
            S_QN = _similarities(points_ND[chunk_Q], points_ND, by_direction)
            S_QN.scatter_(1, chunk_Q[:, None], -torch.inf)
            found.append(S_QN.topk(num_listed, dim=1))
    similarities_QK = torch.cat([top.values for top in found])
    return torch.cat([top.indices for top in found]).cpu(), similarities_QK.cpu()


def _similarities(queries_QD: Tensor, points_ND: Tensor, by_direction: bool) -> Tensor:
    if by_direction:
        return queries_QD @ points_ND.T
    # Of differences, since the product loses the digits of small distances between long vectors.
    return -torch.cdist(queries_QD, points_ND, compute_mode="donot_use_mm_for_euclid_dist")

"""The nearest images of some queries, in an order that does not depend on how they were searched.

Q = queries, N = images, G = those that are searched, L = listed images, K = neighbours,
D = embedding dimension.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from trainables.metrics._cosines import (
    check_finite,
    float32_slack,
    full_precision,
    unit_float32,
    unit_float64,
)
from trainables.metrics._screening import largest_products

__all__ = ["neighbours"]

# Embeddings that are in float64 at the same time.
_EXACT_ROWS = 16384

# Similarities that agree to so many decimals are ties.
_TIE_DECIMALS = 12

# A list has room for the query itself and a few that float32 puts before others.
_SPARE_PLACES = 8


def neighbours(
    embeddings_ND: Tensor,
    query_indices: Sequence[int],
    num_neighbours: int,
    *,
    by_direction: bool = True,
    is_gallery_N: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Indices and similarities of each query's nearest images, best first.

    The query itself is left out by its index. Similarities are compared in float64; of equal ones
    the first image comes first. So it does not matter whether faiss is installed.

    Args:
        embeddings_ND: of any length, on any device.
        query_indices: rows that are queries.
        num_neighbours: how many to list; fewer where there are not so many other images.
        by_direction: whether a similarity is a cosine, or the negative Euclidean distance of the
            embeddings as they are.
        is_gallery_N: which images are searched; all without it.

    Returns:
        (indices_QK int64, similarities_QK float32), both on the CPU.

    Raises:
        ValueError: an embedding is not finite.
    """
    check_finite(embeddings_ND)
    queries_Q = torch.as_tensor(query_indices, dtype=torch.int64, device=embeddings_ND.device)
    gallery_G = torch.arange(len(embeddings_ND), device=embeddings_ND.device)
    if is_gallery_N is not None:
        gallery_G = gallery_G[is_gallery_N.to(gallery_G.device)]
    is_self_among = bool(torch.isin(queries_Q, gallery_G).any())
    num_listed = min(num_neighbours, len(gallery_G) - int(is_self_among))
    search = _Search(embeddings_ND, gallery_G, by_direction=by_direction)
    with full_precision():
        if by_direction:
            found = search.screened(queries_Q, num_listed)
        else:
            found = [search.exact(query, gallery_G, num_listed) for query in queries_Q]
    indices = torch.stack([indices_K for indices_K, _ in found])
    return indices.cpu(), torch.stack([values_K for _, values_K in found]).float().cpu()


class _Search:
    """Neighbours of single queries among the gallery."""

    def __init__(self, embeddings_ND: Tensor, gallery_G: Tensor, *, by_direction: bool) -> None:
        self._embeddings_ND, self._gallery_G = embeddings_ND, gallery_G
        self._by_direction = by_direction

    def screened(self, queries_Q: Tensor, num: int) -> list[tuple[Tensor, Tensor]]:
        """Neighbours by cosine: of the images with the largest in float32, if these are enough."""
        units_GD = unit_float32(self._embeddings_ND[self._gallery_G])
        products_QL, places_QL = largest_products(
            unit_float32(self._embeddings_ND[queries_Q]),
            units_GD,
            min(num + _SPARE_PLACES, len(units_GD)),
        )
        slack = float32_slack(units_GD.shape[1])
        found = []
        for query, products_L, places_L in zip(queries_Q, products_QL, places_QL, strict=True):
            nearest = self.exact(query, self._gallery_G[places_L.sort().values], num)
            is_all = len(places_L) == len(units_GD)
            if not is_all and nearest[1][-1] <= products_L[-1] + slack:
                nearest = self.exact(query, self._gallery_G, num)
            found.append(nearest)
        return found

    def exact(self, query: Tensor, among_L: Tensor, num: int) -> tuple[Tensor, Tensor]:
        """Indices and float64 similarities of the nearest of some images, which ascend."""
        others_L = among_L[among_L != query]
        own_1D = self._embeddings_ND[query, None]
        values_L = torch.cat(
            [
                self._similarities(own_1D, self._embeddings_ND[part])
                for part in torch.split(others_L, _EXACT_ROWS)
            ]
        )
        order_K = values_L.round(decimals=_TIE_DECIMALS).argsort(descending=True, stable=True)[
            :num
        ]
        return others_L[order_K], values_L[order_K]

    def _similarities(self, query_1D: Tensor, others_LD: Tensor) -> Tensor:
        if self._by_direction:
            return (unit_float64(query_1D) * unit_float64(others_LD)).sum(1)
        # Of differences, since the product loses the digits of small distances of long vectors.
        return (query_1D.double() - others_LD.double()).square().sum(1).sqrt().neg()

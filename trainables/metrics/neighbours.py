"""The nearest images of a few queries, for looking at.

Q = queries, N = images, G = those that are searched, L = listed images, K = neighbours,
D = embedding dimension.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from podium.trainables.metrics._cosines import (
    check_finite,
    full_precision,
    unit_float32,
    unit_float64,
)

# Embeddings of which the difference to a query is in float64 at the same time.
_EXACT_ROWS = 16384

# Similarities that agree to so many decimals are ties.
_TIE_DECIMALS = 12


def neighbours(
    embeddings_ND: Tensor,
    query_indices: Sequence[int],
    num_neighbours: int,
    *,
    by_direction: bool = True,
    is_gallery_N: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Indices and similarities of each query's nearest images, best first.

    The query itself is left out by its index. The order is that of float64, and of similarities
    that agree to 1e-12 the first image comes first.

    Args:
        embeddings_ND: embeddings of any length, on any device.
        query_indices: positions of the queries among the rows.
        num_neighbours: K; with fewer other images, all of them.
        by_direction: whether a similarity is a cosine, or the negative Euclidean distance of the
            embeddings as they are.
        is_gallery_N: bool, whether an image is in the gallery; None: all are.

    Returns:
        (indices_QK int64, similarities_QK float32), both on the CPU.

    Raises:
        ValueError: an embedding is not finite.
    """
    check_finite(embeddings_ND)
    queries_Q = torch.as_tensor(query_indices, dtype=torch.int64, device=embeddings_ND.device)
    with full_precision():
        search = _Search(embeddings_ND, is_gallery_N, by_direction=by_direction)
        return search.nearest(queries_Q, search.num_others(queries_Q, num_neighbours))


class _Search:
    """A gallery and its embeddings."""

    def __init__(
        self, embeddings_ND: Tensor, is_gallery_N: Tensor | None, *, by_direction: bool
    ) -> None:
        self._embeddings_ND = embeddings_ND
        self._by_direction = by_direction
        self._points_ND = unit_float32(embeddings_ND) if by_direction else embeddings_ND.float()
        self._gallery_G = torch.arange(len(embeddings_ND), device=embeddings_ND.device)
        if is_gallery_N is not None:
            self._gallery_G = self._gallery_G[is_gallery_N.to(embeddings_ND.device)]

    def num_others(self, queries_Q: Tensor, wanted: int) -> int:
        """``wanted``, or how many images every query has at least."""
        has_own = bool(torch.isin(queries_Q, self._gallery_G).any())
        return min(wanted, len(self._gallery_G) - int(has_own))

    def nearest(self, queries_Q: Tensor, num: int) -> tuple[Tensor, Tensor]:
        """As `neighbours`: ordered in float64, similarities are those of float32."""
        places_QK = torch.stack([self._ordered(query)[:num] for query in queries_Q])
        similarities_QK = self._similarities(queries_Q).gather(1, places_QK)
        return self._gallery_G[places_QK].cpu(), similarities_QK.cpu()

    def _similarities(self, queries_Q: Tensor) -> Tensor:
        queries_QD, gallery_GD = self._points_ND[queries_Q], self._points_ND
        if len(self._gallery_G) < len(gallery_GD):
            gallery_GD = gallery_GD[self._gallery_G]
        if self._by_direction:
            return queries_QD @ gallery_GD.T
        # Of differences, since the product loses the digits of small distances of long vectors.
        return -torch.cdist(queries_QD, gallery_GD, compute_mode="donot_use_mm_for_euclid_dist")

    def _ordered(self, query: Tensor) -> Tensor:
        """Positions in the gallery by float64 similarity; the query itself last."""
        own_1D = self._embeddings_ND[query, None]
        exact = []
        for part in torch.split(self._gallery_G, _EXACT_ROWS):
            others_LD = self._embeddings_ND[part]
            if self._by_direction:
                exact.append((unit_float64(own_1D) * unit_float64(others_LD)).sum(1))
            else:
                exact.append((own_1D.double() - others_LD.double()).square().sum(1).sqrt().neg())
        exact_G = torch.cat(exact).round_(decimals=_TIE_DECIMALS)
        exact_G[self._gallery_G == query] = -torch.inf
        return exact_G.argsort(descending=True, stable=True)

"""The nearest images of a few queries, for looking at.

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

# Queries are taken this many at a time, which bounds the memory at this many times N cosines.
_CHUNK_QUERIES = 256

# Embeddings of which the difference to a query is in float64 at the same time.
_EXACT_ROWS = 16384

# Similarities that agree to so many decimals are ties.
_TIE_DECIMALS = 12

# A list has room for a few images that float32 puts before others.
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
        num_listed = search.num_others(queries_Q, num_neighbours)
        found = [
            search.nearest(chunk_Q, num_listed)
            for chunk_Q in torch.split(queries_Q, _CHUNK_QUERIES)
        ]
    return torch.cat([part[0] for part in found]), torch.cat([part[1] for part in found])


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
        self._slack = float32_slack(embeddings_ND.shape[1])
        if not by_direction:
            self._slack *= 2.0 * float(self._points_ND.norm(dim=1).max())

    def num_others(self, queries_Q: Tensor, wanted: int) -> int:
        """``wanted``, or how many images every query has at least."""
        has_own = bool(torch.isin(queries_Q, self._gallery_G).any())
        return min(wanted, len(self._gallery_G) - int(has_own))

    def nearest(self, queries_Q: Tensor, num: int) -> tuple[Tensor, Tensor]:
        """As `neighbours`: screened in float32, which is what similarities are reported in."""
        S_QG = self._similarities(queries_Q)
        S_QG.masked_fill_(queries_Q[:, None] == self._gallery_G, -torch.inf)
        num_listed = min(num + _SPARE_PLACES, len(self._gallery_G))
        top = S_QG.topk(num_listed, dim=1)
        places = []
        for query, values_L, places_L in zip(queries_Q, top.values, top.indices, strict=True):
            unlisted = values_L[-1] + self._slack
            is_clear = (
                num_listed == len(self._gallery_G) or values_L[num - 1] - self._slack > unlisted
            )
            among_L = places_L.sort().values if is_clear else torch.arange(len(self._gallery_G))
            places.append(self._ordered(query, among_L.to(places_L.device))[:num])
        places_QK = torch.stack(places)
        return self._gallery_G[places_QK].cpu(), S_QG.gather(1, places_QK).cpu()

    def _similarities(self, queries_Q: Tensor) -> Tensor:
        queries_QD, gallery_GD = self._points_ND[queries_Q], self._points_ND
        if len(self._gallery_G) < len(gallery_GD):
            gallery_GD = gallery_GD[self._gallery_G]
        if self._by_direction:
            return queries_QD @ gallery_GD.T
        # Of differences, since the product loses the digits of small distances of long vectors.
        return -torch.cdist(queries_QD, gallery_GD, compute_mode="donot_use_mm_for_euclid_dist")

    def _ordered(self, query: Tensor, places_L: Tensor) -> Tensor:
        """Ascending positions in the gallery, by float64 similarity; the query itself last."""
        own_1D = self._embeddings_ND[query, None]
        exact = []
        for part in torch.split(places_L, _EXACT_ROWS):
            others_LD = self._embeddings_ND[self._gallery_G[part]]
            if self._by_direction:
                exact.append((unit_float64(own_1D) * unit_float64(others_LD)).sum(1))
            else:
                exact.append((own_1D.double() - others_LD.double()).square().sum(1).sqrt().neg())
        exact_L = torch.cat(exact).round_(decimals=_TIE_DECIMALS)
        exact_L[self._gallery_G[places_L] == query] = -torch.inf
        return places_L[exact_L.argsort(descending=True, stable=True)]

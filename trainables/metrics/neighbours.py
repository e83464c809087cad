"""The nearest images of a few queries, for looking at.

Q = queries, N = images, G = those that are searched, L = listed images, K = neighbours,
D = embedding dimension.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from podium.trainables.geometry import all_distances
from podium.trainables.metrics._cosines import (
    check_finite,
    full_precision,
    unit_float32,
    unit_float64,
)
from podium.trainables.tasks import Geometry

# Embeddings of which the difference to a query is in float64 at the same time.
_EXACT_ROWS = 16384

# Similarities that agree to so many decimals are ties.
_TIE_DECIMALS = 12


def neighbours(
    embeddings_ND: Tensor,
    query_indices: Sequence[int],
    num_neighbours: int,
    *,
    geometry: Geometry = "cosine",
    is_gallery_N: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Indices and similarities of each query's nearest images, best first.

    The query itself is left out by its index. The order is that of float64, and of similarities
    that agree to 1e-12 the first image comes first.

    Args:
        embeddings_ND: embeddings of any length, on any device.
        query_indices: positions of the queries among the rows.
        num_neighbours: K; with fewer other images, all of them.
        geometry: whether a similarity is a cosine, or minus the distance of that geometry.
        is_gallery_N: bool, whether an image is in the gallery; None: all are.

    Returns:
        (indices_QK int64, similarities_QK float32), both on the CPU.

    Raises:
        ValueError: an embedding is not finite.
    """
    check_finite(embeddings_ND)
    device = embeddings_ND.device
    gallery_G = torch.arange(len(embeddings_ND), device=device)
    if is_gallery_N is not None:
        gallery_G = gallery_G[is_gallery_N.to(device)]
    queries_Q = torch.as_tensor(query_indices, dtype=torch.int64, device=device)
    num_others = len(gallery_G) - int(torch.isin(queries_Q, gallery_G).any())
    with full_precision():
        ordered = [_ordered(embeddings_ND, query, gallery_G, geometry) for query in queries_Q]
        places_QK = torch.stack(ordered)[:, : min(num_neighbours, num_others)]
        if geometry == "cosine":
            points_ND = unit_float32(embeddings_ND)
            gallery_GD = points_ND if is_gallery_N is None else points_ND[gallery_G]
            similarities_QG = points_ND[queries_Q] @ gallery_GD.T
        else:
            points_ND = embeddings_ND.float()
            similarities_QG = -all_distances(points_ND[queries_Q], points_ND[gallery_G], geometry)
        return gallery_G[places_QK].cpu(), similarities_QG.gather(1, places_QK).cpu()


def _ordered(
    embeddings_ND: Tensor, query: Tensor, gallery_G: Tensor, geometry: Geometry
) -> Tensor:
    """Positions in the gallery by float64 similarity; the query itself last."""
    own_1D = embeddings_ND[query, None]
    exact = []
    for part in torch.split(gallery_G, _EXACT_ROWS):
        others_LD = embeddings_ND[part]
        if geometry == "cosine":
            exact.append((unit_float64(own_1D) * unit_float64(others_LD)).sum(1))
        else:
            exact.append(-all_distances(own_1D.double(), others_LD.double(), geometry)[0])
    exact_G = torch.cat(exact).round_(decimals=_TIE_DECIMALS)
    exact_G[gallery_G == query] = -torch.inf
    return exact_G.argsort(descending=True, stable=True)

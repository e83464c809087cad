"""The nearest images of queries, searched in kept embeddings.

N = images, Q = queries, G = images that are searched, K = neighbours, D = embedding dimension.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from podium.kept_files.embeddings_file import Geometry

_CHUNK = 64  # queries whose similarities to all images are in memory
_ROOT_CURVATURE, _LONGEST = np.sqrt(0.1), 2.3  # of the Poincare ball
_TIE_DECIMALS = 12  # similarities that agree to so many decimals are ties


def nearest_images(
    embeddings_ND: NDArray[np.float32],
    queries_Q: NDArray[np.int64],
    gallery_G: NDArray[np.int64],
    most: int,
    geometry: Geometry,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows and similarities of each query's nearest images, best first.

    Every image of the gallery is compared in float64, and the query itself is left out. Of
    similarities that agree to 1e-12 the first image comes first, as in the trial itself.

    Args:
        embeddings_ND: embeddings of any length.
        queries_Q: rows of the queries.
        gallery_G: rows of the images that are searched, ascending.
        most: K, from 1; with fewer other images all of them.
        geometry: whether a similarity is a cosine, or minus the distance of that geometry.

    Returns:
        (rows_QK, similarities_QK).
    """
    points_ND, rests_N1 = _points(embeddings_ND.astype(np.float64), geometry)
    gallery_GD = points_ND[gallery_G]
    has_own = bool(np.isin(queries_Q, gallery_G).any())
    num = min(most, len(gallery_G) - has_own)
    places_QK = np.empty((len(queries_Q), num), dtype=np.int64)
    similarities_QK = np.empty((len(queries_Q), num))
    for start in range(0, len(queries_Q), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        of_chunk = queries_Q[chunk]
        own_BD = points_ND[of_chunk]
        S_BG = own_BD @ gallery_GD.T if geometry == "cosine" else -cdist(own_BD, gallery_GD)
        if geometry == "poincare":
            S_BG /= np.sqrt(rests_N1[of_chunk] * rests_N1[gallery_G].T)
            S_BG = 2.0 / _ROOT_CURVATURE * np.arcsinh(S_BG)
        S_BG.round(_TIE_DECIMALS, out=S_BG)
        S_BG[of_chunk[:, None] == gallery_G] = -np.inf
        places_QK[chunk] = [_best(row_G, num) for row_G in S_BG]
        similarities_QK[chunk] = np.take_along_axis(S_BG, places_QK[chunk], axis=1)
    return gallery_G[places_QK], similarities_QK


def _points(
    embeddings_ND: NDArray[np.float64], geometry: Geometry
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points whose products or distances are compared, and how far from the ball's rim they are.

    Those of the Poincare ball are as in `trainables.geometry`, which needs torch.
    """
    lengths_N1 = np.linalg.norm(embeddings_ND, axis=1, keepdims=True)
    if geometry == "euclidean":
        return embeddings_ND, lengths_N1
    directions_ND = embeddings_ND / np.where(lengths_N1 > 0, lengths_N1, 1.0)
    if geometry == "cosine":
        return directions_ND, lengths_N1
    angles_N1 = _ROOT_CURVATURE * np.minimum(lengths_N1, _LONGEST)
    return directions_ND * np.tanh(angles_N1), np.cosh(angles_N1) ** -2


def _best(similarities_G: NDArray[np.float64], num: int) -> NDArray[np.int64]:
    """Places of the highest values, highest first; of equal ones the first places."""
    if not num:
        return np.empty(0, dtype=np.int64)
    least = np.partition(similarities_G, -num)[-num]
    near = np.flatnonzero(similarities_G >= least)  # more than asked for where some are equal
    return near[np.argsort(-similarities_G[near], kind="stable")][:num]

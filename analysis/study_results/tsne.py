"""A flat map of embeddings that keeps neighbours together: exact t-SNE.

van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 9 (2008), with the start from
principal components of Kobak and Berens, Nature Communications 10:5416 (2019), so that nothing is
random. Sums are never left to a linear algebra library that may split them by threads, except
for the start, which is rounded: the same machine gives the same map.

N = images, D = embedding dimension.
"""

import numpy as np
from numpy.typing import NDArray

_PERPLEXITY = 10.0
_BISECTIONS = 60
_EXAGGERATION = 12.0
_EARLY_STEPS = 250
_STEPS = 750
_SMALLEST = 1e-12
_START_STD = 1e-4
_START_DIGITS = 6
_LEAST_GAIN = 0.01


def squared_distances(points_ND: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared Euclidean distances (N, N) of points, zero on the diagonal."""
    products_NN = np.einsum("id,jd->ij", points_ND, points_ND)
    squares_N = np.diag(products_NN)
    distances_NN: NDArray[np.float64] = np.maximum(
        squares_N[:, None] + squares_N[None, :] - 2 * products_NN, 0.0
    )
    np.fill_diagonal(distances_NN, 0.0)
    return distances_NN


def nearest_share(distances_NN: NDArray[np.float64], labels_N: NDArray[np.int64]) -> float:
    """Share of images whose nearest other image has their label: Recall@1 among them.

    Of others that are equally near, the share with the label counts.

    Args:
        distances_NN: distances of at least two images; the diagonal is not read.
        labels_N: labels of the images.
    """
    others_NN = distances_NN + np.diag(np.full(len(labels_N), np.inf))
    is_nearest_NN = others_NN == others_NN.min(axis=1, keepdims=True)
    is_same_NN = labels_N[:, None] == labels_N[None, :]
    return float(((is_nearest_NN & is_same_NN).sum(axis=1) / is_nearest_NN.sum(axis=1)).mean())


def neighbour_map(distances_NN: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions (N, 2) on a map; their units mean nothing.

    The perplexity is 10, or a third of the other images where there are fewer than 31.

    Args:
        distances_NN: squared distances of at least four images.
    """
    affinities_NN = affinities(distances_NN, min(_PERPLEXITY, (len(distances_NN) - 1) / 3))
    positions_N2 = _start(distances_NN)
    rate = max(len(positions_N2) / _EXAGGERATION / 4, 50.0)
    step_N2 = np.zeros_like(positions_N2)
    gains_N2 = np.ones_like(positions_N2)
    for number in range(_EARLY_STEPS + _STEPS):
        is_early = number < _EARLY_STEPS
        pull_NN = affinities_NN * _EXAGGERATION if is_early else affinities_NN
        slope_N2 = gradient(pull_NN, positions_N2)
        is_downhill_N2 = step_N2 * slope_N2 < 0
        gains_N2 = np.where(is_downhill_N2, gains_N2 + 0.2, gains_N2 * 0.8)
        gains_N2 = np.maximum(gains_N2, _LEAST_GAIN)
        step_N2 = (0.5 if is_early else 0.8) * step_N2 - rate * gains_N2 * slope_N2
        positions_N2 = positions_N2 + step_N2
    centred_N2: NDArray[np.float64] = positions_N2 - positions_N2.mean(axis=0)
    return centred_N2


def affinities(distances_NN: NDArray[np.float64], perplexity: float) -> NDArray[np.float64]:
    """Symmetric probabilities (N, N) with sum 1; each row began with this perplexity.

    Bandwidths are found by bisection. Where all other images are equally far, none gives this
    perplexity, and the row is uniform.
    """
    scale = distances_NN.max() or 1.0
    others_NN = distances_NN / scale + np.diag(np.full(len(distances_NN), np.inf))
    nearest_NN = others_NN - others_NN.min(axis=1, keepdims=True)
    low_N, high_N = np.full(len(others_NN), -20.0), np.full(len(others_NN), 40.0)
    for _ in range(_BISECTIONS):
        middle_N = (low_N + high_N) / 2
        is_wide_N = _entropy(_rows(nearest_NN, middle_N)) > np.log(perplexity)
        low_N = np.where(is_wide_N, middle_N, low_N)
        high_N = np.where(is_wide_N, high_N, middle_N)
    rows_NN = _rows(nearest_NN, low_N)
    joint_NN: NDArray[np.float64] = (rows_NN + rows_NN.T) / (2 * len(rows_NN))
    return np.maximum(joint_NN, _SMALLEST)


def gradient(
    affinities_NN: NDArray[np.float64], positions_N2: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Gradient (N, 2) of the Kullback-Leibler divergence of the map, by the positions."""
    # In place and an axis at a time: a map takes a thousand of these.
    offsets = [
        np.subtract.outer(axis_N, axis_N) for axis_N in np.ascontiguousarray(positions_N2.T)
    ]
    closeness_NN = offsets[0] * offsets[0]
    closeness_NN += 1
    closeness_NN += offsets[1] * offsets[1]
    np.reciprocal(closeness_NN, out=closeness_NN)
    np.fill_diagonal(closeness_NN, 0.0)
    force_NN = closeness_NN / closeness_NN.sum()
    np.maximum(force_NN, _SMALLEST, out=force_NN)
    np.subtract(affinities_NN, force_NN, out=force_NN)
    force_NN *= closeness_NN
    slopes = [np.multiply(force_NN, axis_NN, out=axis_NN).sum(axis=1) for axis_NN in offsets]
    return 4 * np.stack(slopes, axis=1)


def _rows(
    nearest_NN: NDArray[np.float64], log_precision_N: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Gaussian neighbourhoods (N, N), each row with sum 1."""
    weights_NN = np.exp(-nearest_NN * np.exp(log_precision_N)[:, None])
    rows_NN: NDArray[np.float64] = weights_NN / weights_NN.sum(axis=1, keepdims=True)
    return rows_NN


def _entropy(rows_NN: NDArray[np.float64]) -> NDArray[np.float64]:
    logs_NN = np.log(np.maximum(rows_NN, np.finfo(np.float64).tiny))
    entropy_N: NDArray[np.float64] = -(rows_NN * logs_NN).sum(axis=1)
    return entropy_N


def _start(distances_NN: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two principal components, signs and digits fixed, very close to each other."""
    centred_NN = distances_NN - distances_NN.mean(axis=0) - distances_NN.mean(axis=1)[:, None]
    values, vectors_NN = np.linalg.eigh(-(centred_NN + distances_NN.mean()) / 2)
    positions_N2 = vectors_NN[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    largest_2 = np.abs(positions_N2).argmax(axis=0)
    positions_N2 = positions_N2 * np.where(positions_N2[largest_2, [0, 1]] < 0, -1.0, 1.0)
    spread = positions_N2[:, 0].std() or 1.0
    start_N2: NDArray[np.float64] = np.round(positions_N2 / spread, _START_DIGITS) * _START_STD
    return start_N2

"""Functional ANOVA of forests. N configs, P hyperparameters, R replicates, T trees, L leaves.

Hutter, Hoos and Leyton-Brown 2014, An efficient approach for assessing hyperparameter importance
(ICML), sections 3 and 4: a forest predicts the score; the variance of each tree over the space is
decomposed exactly, and the share of a hyperparameter alone is averaged over trees. The trees of
all replicates grow at once, level by level, so that hundreds of shuffled forests take seconds.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_TREES = 16
_CHUNK = 2048  # trees grown at once
_TINY = 1e-12

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def fanova_shares(
    positions_NP: Floats,
    num_values: Sequence[int],
    *,
    rows_RN: Indices,
    scores_RN: Floats,
    generator: np.random.Generator,
    trees: int = _TREES,
) -> Floats:
    """Share of the variance of the score that each hyperparameter alone explains, (R, P).

    The shares of one replicate sum to at most 1; the rest is interactions. Trees
    are grown to the end, each on a draw of the configs; categories are ordered by their mean score
    in the replicate. 0 where no tree splits.

    Every hyperparameter has to exist in every config: marginals over a space with holes are not
    defined.

    Args:
        positions_NP: position of each config in the range, 0 to 1; of a choice the index of its
            value.
        num_values: number V of values of each choice, 0 for a number.
        rows_RN: indices of the configs in each replicate.
        scores_RN: scores of these configs.
        generator: source of the configs that each tree is grown on.
        trees: number of trees of each forest.
    """
    num_replicates, num = rows_RN.shape
    positions_RNP = positions_NP[rows_RN]
    for column, size in enumerate(num_values):
        if size:
            positions_RNP[:, :, column] = _ordered(positions_RNP[:, :, column], scores_RN, size)
    drawn_TN = generator.integers(num, size=(num_replicates * trees, num))
    replicate_T = np.repeat(np.arange(num_replicates), trees)
    parts = []
    for start in range(0, len(drawn_TN), _CHUNK):
        of_T, drawn = replicate_T[start : start + _CHUNK], drawn_TN[start : start + _CHUNK]
        parts.append(
            _tree_shares(positions_RNP[of_T[:, None], drawn], scores_RN[of_T[:, None], drawn])
        )
    shares_RTP = np.concatenate(parts).reshape(num_replicates, trees, -1)
    num_known_R1 = (~np.isnan(shares_RTP[:, :, 0])).sum(axis=1)[:, None]
    means_RP: Floats = np.nan_to_num(shares_RTP).sum(axis=1) / np.maximum(num_known_R1, 1)
    return means_RP


def _ordered(index_RN: Floats, scores_RN: Floats, size: int) -> Floats:
    """Categories as positions between 0 and 1, by their mean score; unseen ones in the middle."""
    seen_RNV = index_RN[:, :, None] == np.arange(size)
    counts_RV = seen_RNV.sum(axis=1)
    sums_RV = (seen_RNV * scores_RN[:, :, None]).sum(axis=1)
    overall_R1 = scores_RN.mean(axis=1, keepdims=True)
    means_RV = np.where(counts_RV > 0, sums_RV / np.maximum(counts_RV, 1), overall_R1)
    ranks_RV = means_RV.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    positions: Floats = (
        np.take_along_axis(ranks_RV, index_RN.astype(np.intp), axis=1) + 0.5
    ) / size
    return positions


def _tree_shares(positions_TNP: Floats, scores_TN: Floats) -> Floats:
    """Shares (T, P) of one tree each; NaN for a tree without variance."""
    values_TL, boxes_TLP2 = _grown(positions_TNP, scores_TN)
    lengths_TLP = boxes_TLP2[..., 1] - boxes_TLP2[..., 0]
    volumes_TL = lengths_TLP.prod(axis=2)
    mean_T = (values_TL * volumes_TL).sum(axis=1)
    centred_TL = values_TL - mean_T[:, None]
    variance_T = (centred_TL**2 * volumes_TL).sum(axis=1)
    shares = np.empty((len(values_TL), positions_TNP.shape[2]))
    for column in range(shares.shape[1]):
        low_TL, high_TL = boxes_TLP2[:, :, column, 0], boxes_TLP2[:, :, column, 1]
        weights_TL = centred_TL * volumes_TL / np.maximum(lengths_TLP[:, :, column], _TINY)
        shared_TLL = np.minimum(high_TL[:, :, None], high_TL[:, None]) - np.maximum(
            low_TL[:, :, None], low_TL[:, None]
        )
        np.maximum(shared_TLL, 0, out=shared_TLL)
        shares[:, column] = np.einsum("tl,tlm,tm->t", weights_TL, shared_TLL, weights_TL)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(
            variance_T[:, None] > _TINY * np.maximum(mean_T[:, None] ** 2, _TINY),
            shares / variance_T[:, None],
            np.nan,
        )
    return found


def _grown(positions_TNP: Floats, scores_TN: Floats) -> tuple[Floats, Floats]:
    """Leaves of each tree: their values (T, L) and boxes (T, L, P, 2); unused ones are empty."""
    num_trees, num, num_columns = positions_TNP.shape
    node_TN = np.zeros((num_trees, num), dtype=np.intp)
    boxes = np.zeros((num_trees, num, num_columns, 2))
    boxes[:, 0, :, 1] = 1.0
    used_T = np.ones(num_trees, dtype=np.intp)
    orders = [
        positions_TNP[:, :, column].argsort(axis=1, kind="stable") for column in range(num_columns)
    ]
    while True:
        gain_TL, column_TL, cut_TL = _best_splits(positions_TNP, scores_TN, node_TN, orders)
        splits_TL = gain_TL > _TINY
        if not splits_TL.any():
            break
        new_TL = used_T[:, None] + np.cumsum(splits_TL, axis=1) - 1
        used_T += splits_TL.sum(axis=1)
        tree, node = np.nonzero(splits_TL)
        column, cut, new = column_TL[tree, node], cut_TL[tree, node], new_TL[tree, node]
        boxes[tree, new] = boxes[tree, node]
        boxes[tree, node, column, 1] = cut
        boxes[tree, new, column, 0] = cut
        own_column_TN = np.take_along_axis(column_TL, node_TN, axis=1)
        own_position_TN = np.take_along_axis(positions_TNP, own_column_TN[:, :, None], axis=2)[
            :, :, 0
        ]
        moves_TN = np.take_along_axis(splits_TL, node_TN, axis=1) & (
            own_position_TN > np.take_along_axis(cut_TL, node_TN, axis=1)
        )
        node_TN = np.where(moves_TN, np.take_along_axis(new_TL, node_TN, axis=1), node_TN)
    flat_TN = node_TN + num * np.arange(num_trees)[:, None]
    counts = np.bincount(flat_TN.ravel(), minlength=num_trees * num)
    sums = np.bincount(flat_TN.ravel(), scores_TN.ravel(), minlength=num_trees * num)
    values_TL = (sums / np.maximum(counts, 1)).reshape(num_trees, num)
    most = int(used_T.max())
    return values_TL[:, :most], boxes[:, :most]


def _best_splits(
    positions_TNP: Floats, scores_TN: Floats, node_TN: Indices, orders: Sequence[Indices]
) -> tuple[Floats, Indices, Floats]:
    """The best split of each node (T, L): its gain in sums of squares, its column, its cut."""
    num_trees, num = node_TN.shape
    best = np.zeros(num_trees * num)
    columns = np.zeros(num_trees * num, dtype=np.intp)
    cuts = np.zeros(num_trees * num)
    offsets_T1 = num * np.arange(num_trees)[:, None]
    for column, order_TN in enumerate(orders):
        by_position_TN = np.take_along_axis(node_TN, order_TN, axis=1)
        sorted_TN = np.take_along_axis(
            order_TN, by_position_TN.argsort(axis=1, kind="stable"), axis=1
        )
        nodes = (np.take_along_axis(node_TN, sorted_TN, axis=1) + offsets_T1).ravel()
        positions = np.take_along_axis(positions_TNP[:, :, column], sorted_TN, axis=1).ravel()
        scores = np.take_along_axis(scores_TN, sorted_TN, axis=1).ravel()
        starts = np.flatnonzero(np.r_[True, nodes[1:] != nodes[:-1]])
        sizes = np.diff(np.r_[starts, len(nodes)])
        sums = np.add.reduceat(scores, starts)
        centred = scores - np.repeat(sums / sizes, sizes)
        running = np.cumsum(centred)
        left = running - np.repeat(running[starts] - centred[starts], sizes)
        count = np.arange(len(nodes)) - np.repeat(starts, sizes) + 1
        rest = np.repeat(sizes, sizes) - count
        is_cut = np.r_[(nodes[1:] == nodes[:-1]) & (positions[1:] > positions[:-1]), False]
        gains = np.where(is_cut, left**2 / count + left**2 / np.maximum(rest, 1), 0.0)
        tops = np.maximum.reduceat(gains, starts)
        at = np.flatnonzero((gains == np.repeat(tops, sizes)) & is_cut)
        _, first = np.unique(nodes[at], return_index=True)
        at = at[first]
        wins = gains[at] > best[nodes[at]]
        at = at[wins]
        best[nodes[at]] = gains[at]
        columns[nodes[at]] = column
        cuts[nodes[at]] = (positions[at] + positions[at + 1]) / 2
    shape = (num_trees, num)
    return best.reshape(shape), columns.reshape(shape), cuts.reshape(shape)

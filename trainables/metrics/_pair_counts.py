"""How many pairs of images have which cosine: of one class and of two, by fold.

N = images, P = pairs, F = folds, L = levels of the score, R and C = rows and columns of a block.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.dataset_interface.verification_pairs import VerificationPairs
from podium.trainables.metrics._cosines import full_precision, slices, unit_float64

_ROWS, _COLUMNS = 1024, 4096

# Pairs of which both rows are float64 at the same time.
_PAIRS = 4096

# Cosines of given pairs that agree to so many decimals are ties: far above the rounding of
# float64, far below that of the float32 numbers an embedding is made of.
_TIE_DECIMALS = 12

# A cone of embeddings is never taken for narrower than what float64 resolves.
_NARROWEST = 1e-12

_Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """Pairs by score; those of one score are accepted or rejected together.

    Attributes:
        scores_L: float64, cosines, descending and distinct.
        same_FL: pairs of one class of each fold and score.
        different_FL: pairs of two classes.
    """

    scores_L: npt.NDArray[np.float64]
    same_FL: _Counts
    different_FL: _Counts


def count_given_pairs(embeddings_ND: Tensor, pairs: VerificationPairs) -> PairCounts:
    """The pairs of a file. Cosines that agree to 12 decimals are ties."""
    cosines_P = np.empty(len(pairs.first_P))
    with full_precision():
        for part in slices(0, len(cosines_P), _PAIRS):
            first_RD, second_RD = (
                unit_float64(embeddings_ND[torch.from_numpy(of_P[part]).to(embeddings_ND.device)])
                for of_P in (pairs.first_P, pairs.second_P)
            )
            cosines_P[part] = (first_RD * second_RD).sum(1).cpu().numpy()
    ascending_L, levels_P = np.unique(cosines_P.round(_TIE_DECIMALS), return_inverse=True)
    counts_2FL = np.zeros((2, int(pairs.folds_P.max()) + 1, len(ascending_L)), dtype=np.int64)
    kinds_P = (~pairs.is_same_P).astype(np.int64)
    np.add.at(counts_2FL, (kinds_P, pairs.folds_P, len(ascending_L) - 1 - levels_P), 1)
    return PairCounts(
        scores_L=ascending_L[::-1].copy(), same_FL=counts_2FL[0], different_FL=counts_2FL[1]
    )


def count_all_pairs(
    embeddings_ND: Tensor, labels_N: Tensor, folds_N: Tensor | None, *, num_steps: int
) -> PairCounts:
    """Every pair of images; with folds, every pair within a fold.

    Cosines are computed in float64 and rounded to a grid of ``num_steps`` steps over the cone that
    holds all embeddings: 1 and, where the cone is a half-space, 0 and -1 are on it. So memory does
    not grow with the number of pairs, and which images come first does not matter.

    Args:
        embeddings_ND: finite embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        folds_N: int64 fold of each image, from 0; None for one fold of all.
        num_steps: steps of the grid, a power of 2.
    """
    device = embeddings_ND.device
    num_folds = 1 if folds_N is None else int(folds_N.max()) + 1
    counts_F2L = torch.zeros(num_folds, 2 * (num_steps + 1), dtype=torch.int64, device=device)
    with full_precision():
        width = (1.0 - _lowest_cosine(embeddings_ND)) / num_steps
        for fold in range(num_folds):
            rows_N = slice(None) if folds_N is None else (folds_N == fold).to(device)
            _add_pairs(counts_F2L[fold], embeddings_ND[rows_N], labels_N.to(device)[rows_N], width)
    found_F2L: _Counts = counts_F2L.view(num_folds, 2, num_steps + 1).cpu().numpy()
    used_L = np.flatnonzero(found_F2L.any(axis=(0, 1)))
    return PairCounts(
        scores_L=np.subtract(1.0, width * used_L, dtype=np.float64),
        same_FL=found_F2L[:, 0, used_L],
        different_FL=found_F2L[:, 1, used_L],
    )


def _add_pairs(counts_2L: Tensor, embeddings_ND: Tensor, labels_N: Tensor, width: float) -> None:
    """Add each pair of these images once: to the first L counts those of one class."""
    num_levels = len(counts_2L) // 2
    places_N = torch.arange(len(labels_N), device=labels_N.device)
    for rows in slices(0, len(labels_N), _ROWS):
        rows_RD = unit_float64(embeddings_ND[rows])
        for columns in slices(rows.start, len(labels_N), _COLUMNS):
            levels_RC = rows_RD @ unit_float64(embeddings_ND[columns]).T
            levels_RC = levels_RC.neg_().add_(1.0).div_(width).round_().clamp_(0, num_levels - 1)
            is_other_RC = labels_N[rows, None] != labels_N[columns]
            keys_RC = levels_RC.long().add_(is_other_RC, alpha=num_levels)
            is_later_RC = places_N[columns] > places_N[rows, None]
            counts_2L += torch.bincount(keys_RC[is_later_RC], minlength=len(counts_2L))


def _lowest_cosine(embeddings_ND: Tensor) -> float:
    """A bound of all cosines from below: of twice the largest angle to the mean direction."""
    chunks = list(slices(0, len(embeddings_ND), _COLUMNS))
    sum_D = torch.stack([unit_float64(embeddings_ND[chunk]).sum(0) for chunk in chunks]).sum(0)
    mean_D = unit_float64(sum_D[None])[0]
    least = min(float((unit_float64(embeddings_ND[chunk]) @ mean_D).min()) for chunk in chunks)
    if least <= 0.0:
        return -1.0
    return min(2.0 * least**2 - 1.0, 1.0 - _NARROWEST)

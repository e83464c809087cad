"""Verification: whether two images are of one class, judged by the cosine of their embeddings.

A threshold accepts every pair whose cosine reaches it, all pairs of one cosine alike.

N = images, F = folds, L = levels of the score, T = thresholds.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.dataset_interface.verification_pairs import NUM_FOLDS, VerificationPairs
from podium.trainables.metrics._cosines import check_finite
from podium.trainables.metrics._pair_counts import PairCounts, count_all_pairs, count_given_pairs
from podium.trainables.trial_reports import Score

# Classes are dealt to folds in an order that this seed draws, the same for all losses.
_SEED = 1235

# Steps of cosine: of all pairs, and of those within folds, whose best threshold is no edge.
_STEPS = 2**20
_STEPS_OF_FOLDS = 2**16

# FAR 1 to FAR 1e-6, in tenths of a decade.
_KS = range(61)

# A FAR is known where so many pairs of two classes may be accepted.
_LEAST_FALSE_ACCEPTS = 10

_Floats = npt.NDArray[np.float64]
_Counts = npt.NDArray[np.int64]


def verification_scores(
    embeddings_ND: Tensor,
    labels_N: Tensor,
    pairs: VerificationPairs | None = None,
    *,
    role: str,
) -> tuple[Score, ...]:
    """Accuracy at the best threshold with its standard error, equal error rate, AUC, the ROC.

    Without given pairs, EER, AUC and ROC are of all pairs of images. Accuracy is of all pairs
    within folds that share no class; classes are dealt to them in an order drawn by a fixed seed,
    at least two to a fold and one of them with two images.

    ``verification_accuracy`` and ``verification_accuracy_se``: for each fold, the threshold that
    is best on all others, then accuracy on the fold, weighted as if it had as many pairs of one
    class as of two, as LFW has; mean over the folds, and sample standard deviation over the folds
    divided by the root of their number. 0.5 is chance. Absent with fewer than 4 classes, or 2 with
    two images.

    ``eer``: the false accept rate that equals the false reject rate, on straight lines between the
    points of the ROC. ``verification_auc``: the chance that a pair of one class has the larger
    cosine than one of two, ties counting half.

    ``tar_at_far``, with K the tenths of a decade that FAR lies below 1 (30: FAR 0.001): the share
    of pairs of one class accepted at the lowest threshold that accepts no more than so many pairs
    of two classes. A tie at this threshold counts against both, so embeddings that all coincide
    have a TAR of 0 below FAR 1. Absent where fewer than 10 false accepts are allowed.

    Source: Huang et al. 2007, Labeled Faces in the Wild (view 2; the fold that is held out and the
    standard error).

    Args:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        pairs: the pairs, by rows of the embeddings; None for all.
        role: ``val`` or ``test``, copied to the scores.

    Returns:
        Scores; ``queries`` counts pairs of one class and ``gallery`` those of two, ``hits`` what
        is accepted of the former.

    Raises:
        ValueError: an embedding is not finite, or the pairs are of one kind only.
    """
    check_finite(embeddings_ND)
    in_folds: PairCounts | None = None
    if pairs is not None:
        counts = in_folds = count_given_pairs(embeddings_ND, pairs)
    else:
        counts = count_all_pairs(embeddings_ND, labels_N, None, num_steps=_STEPS)
        if (folds_N := deal_classes(labels_N)) is not None:
            in_folds = count_all_pairs(embeddings_ND, labels_N, folds_N, num_steps=_STEPS_OF_FOLDS)
    num_same, num_different = int(counts.same_FL.sum()), int(counts.different_FL.sum())
    if not num_same or not num_different:
        raise ValueError(
            "verification needs pairs of one class and of two, but role "
            f"{role!r} has {num_same} and {num_different}"
        )
    return tuple(_scores(counts, in_folds, role))


def deal_classes(labels_N: Tensor) -> Tensor | None:
    """Fold of each image, at most ten without a common class; None if there are no two.

    Classes are shuffled and dealt in turn, those with two images first. The order of the images
    does not matter.
    """
    classes_C, class_of_N, sizes_C = np.unique(
        labels_N.cpu().numpy(), return_inverse=True, return_counts=True
    )
    num_folds = min(NUM_FOLDS, int((sizes_C > 1).sum()), len(classes_C) // 2)
    if num_folds < 2:
        return None
    drawn_C = torch.randperm(
        len(classes_C), generator=torch.Generator().manual_seed(_SEED)
    ).numpy()
    dealt_C = drawn_C[np.argsort(sizes_C[drawn_C] < 2, stable=True)]
    folds_C = np.empty_like(drawn_C)
    folds_C[dealt_C] = np.arange(len(classes_C)) % num_folds
    return torch.from_numpy(folds_C[class_of_N])


def fold_accuracies(counts: PairCounts) -> _Floats:
    """Accuracy of each fold at the threshold that is best on the others, shape (F,).

    Of several best thresholds it is the highest, halfway between the scores around it.
    """
    return np.array([_accuracy_of(fold, counts) for fold in range(len(counts.same_FL))])


def _accuracy_of(fold: int, counts: PairCounts) -> float:
    others_2L = [of_FL.sum(0) - of_FL[fold] for of_FL in (counts.same_FL, counts.different_FL)]
    is_seen_L = (others_2L[0] + others_2L[1]) > 0
    same_L, different_L = (of_L[is_seen_L] for of_L in others_2L)
    seen_L = counts.scores_L[is_seen_L]
    thresholds_T = np.concatenate(([math.inf], (seen_L[:-1] + seen_L[1:]) / 2, [-math.inf]))
    # Rounded, since equal shares of different counts may differ in their last bits.
    accuracies_T = (_rates(same_L) - _rates(different_L)).round(12)
    is_accepted_L = counts.scores_L >= thresholds_T[int(accuracies_T.argmax())]
    accepted, rejected = (
        of_L[is_chosen_L].sum() / of_L.sum()
        for of_L, is_chosen_L in (
            (counts.same_FL[fold], is_accepted_L),
            (counts.different_FL[fold], ~is_accepted_L),
        )
    )
    return float(accepted + rejected) / 2


def _scores(counts: PairCounts, in_folds: PairCounts | None, role: str) -> Iterator[Score]:
    if in_folds:
        of_folds = partial(_score, in_folds, role)
        accuracies_F = fold_accuracies(in_folds)
        yield of_folds("verification_accuracy", float(accuracies_F.mean()))
        error = accuracies_F.std(ddof=1) / math.sqrt(len(accuracies_F))
        yield of_folds("verification_accuracy_se", float(error))
    of_pairs = partial(_score, counts, role)
    same_L, different_L = counts.same_FL.sum(0), counts.different_FL.sum(0)
    tars_T, fars_T = _rates(same_L), _rates(different_L)
    yield of_pairs("eer", _equal_error_rate(fars_T, tars_T))
    yield of_pairs("verification_auc", float(np.trapezoid(tars_T, fars_T)))
    false_accepts_T, accepts_T = (np.append(0, of_L.cumsum()) for of_L in (different_L, same_L))
    num_same, num_different = int(same_L.sum()), int(different_L.sum())
    for k in _KS:
        allowed = math.floor(10.0 ** (-k / 10) * num_different * (1.0 + 1e-12))
        if allowed >= _LEAST_FALSE_ACCEPTS:
            lowest = int(np.searchsorted(false_accepts_T, allowed, side="right")) - 1
            hits = int(accepts_T[lowest])
            yield of_pairs("tar_at_far", hits / num_same, k=k, hits=hits)


def _score(
    counts: PairCounts,
    role: str,
    metric: str,
    value: float,
    *,
    k: int | None = None,
    hits: int | None = None,
) -> Score:
    queries, gallery = int(counts.same_FL.sum()), int(counts.different_FL.sum())
    return Score(
        role=role, metric=metric, k=k, value=value, hits=hits, queries=queries, gallery=gallery
    )


def _rates(counts_L: _Counts) -> _Floats:
    """Share that is accepted: nothing, the first level, the first two, ..., everything."""
    rates_T: _Floats = np.append(0, counts_L.cumsum()) / counts_L.sum()
    return rates_T


def _equal_error_rate(fars_T: _Floats, tars_T: _Floats) -> float:
    """Where the ROC, a line from (0, 0) to (1, 1), meets FAR = 1 - TAR."""
    excess_T = fars_T + tars_T - 1.0
    after = int((excess_T >= 0.0).argmax())
    part = -excess_T[after - 1] / (excess_T[after] - excess_T[after - 1])
    return float(fars_T[after - 1] + part * (fars_T[after] - fars_T[after - 1]))

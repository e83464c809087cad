"""How embeddings are spread within and between classes: what explains a score, and ranks nothing.

N = images, C = classes, D = embedding dimension.
"""

import torch
from torch import Tensor

from podium.trainables.metrics._cosines import full_precision, unit_float64
from podium.trainables.trial_reports import Score


def spread_scores(embeddings_ND: Tensor, labels_N: Tensor, *, role: str) -> tuple[Score, ...]:
    """Intra- and inter-class variance and effective rank, of embeddings of length 1.

    The variances are mean squared distances, of images to the mean of their class and of these
    means, weighted by images, to the mean of all: their sum is the variance of all, at most 1.
    An image alone in its class counts as one at distance 0.

    The effective rank is exp(H), where H is the entropy of the eigenvalues of the covariance
    matrix divided by their sum: from 1, where one direction holds all variance, to D, where all
    hold the same. It is 0 where embeddings do not differ.

    Source: Roy & Vetterli 2007, The effective rank: a measure of effective dimensionality, of the
    covariance matrix, whose singular values are its eigenvalues.

    Args:
        embeddings_ND: embeddings of any length and float type, finite, on any device.
        labels_N: int64 class of each image.
        role: ``val`` or ``test``, copied to the scores.
    """
    with full_precision():
        rows_ND = unit_float64(embeddings_ND)
        rows_ND -= rows_ND[0].clone()  # of equal embeddings not even rounding is left
        rows_ND -= rows_ND.mean(0)
        is_wide = rows_ND.shape[1] > len(rows_ND)  # both products have the same eigenvalues
        rank = _effective_rank(rows_ND @ rows_ND.T if is_wide else rows_ND.T @ rows_ND)
        within, between = _variances(rows_ND, labels_N.to(rows_ND.device))
    return (
        Score(role=role, metric="intra_class_variance", value=within),
        Score(role=role, metric="inter_class_variance", value=between),
        Score(role=role, metric="effective_rank", value=rank),
    )


def _effective_rank(products: Tensor) -> float:
    eigenvalues = torch.linalg.eigvalsh(products).clamp(min=0.0)
    if not eigenvalues.any():
        return 0.0
    shares = eigenvalues / eigenvalues.sum()
    return (-torch.xlogy(shares, shares).sum()).exp().item()


def _variances(centred_ND: Tensor, labels_N: Tensor) -> tuple[float, float]:
    labels_C, class_of_N = torch.unique(labels_N, return_inverse=True)
    sizes_C = torch.bincount(class_of_N)
    sums_CD = centred_ND.new_zeros(len(labels_C), centred_ND.shape[1])
    means_CD = sums_CD.index_add_(0, class_of_N, centred_ND) / sizes_C[:, None]
    between = (sizes_C * means_CD.square().sum(1)).sum() / len(centred_ND)
    centred_ND -= means_CD[class_of_N]
    within = centred_ND.square().sum() / len(centred_ND)
    return within.item(), between.item()

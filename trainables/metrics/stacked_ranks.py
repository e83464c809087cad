"""Ranks of first positives for many embeddings of the same images at once.

P = embeddings, N = images, Q = queries, D = embedding dimension.
"""

from collections.abc import Iterator
from math import inf

import torch
from torch import Tensor

from podium.trainables.metrics._cosines import (
    FLOAT64_SLACK,
    float32_slack,
    full_precision,
    slices,
    unit_float32,
    unit_float64,
)
from podium.trainables.metrics.first_positive_rank import FirstPositiveRanks

_MAX_COSINES = 2**24  # in memory at a time


def stacked_ranks(embeddings_PND: Tensor, labels_N: Tensor) -> Iterator[FirstPositiveRanks]:
    """`first_positive_ranks` of each embedding: every image is a query against all others.

    Args:
        embeddings_PND: embeddings of any length, finite, on any device.
        labels_N: int64 class of each image.

    Yields:
        The ranks of one embedding after the other.
    """
    labels_N = labels_N.to(embeddings_PND.device)
    size = max(1, _MAX_COSINES // len(labels_N) ** 2)
    for members in slices(0, len(embeddings_PND), size):
        with full_precision():
            above_PN, has_positive_N, num_doubtful_P = _above(embeddings_PND[members], labels_N)
        indices_Q = has_positive_N.cpu().nonzero().squeeze(1)
        for above_N, num_doubtful in zip(above_PN.cpu(), num_doubtful_P.tolist(), strict=True):
            yield FirstPositiveRanks(
                ranks_Q=1 + above_N[indices_Q],
                indices_Q=indices_Q,
                labels_Q=labels_N.cpu()[indices_Q],
                num_singletons=len(labels_N) - len(indices_Q),
                num_gallery=len(labels_N),
                num_doubtful=num_doubtful,
            )


def _above(embeddings_PND: Tensor, labels_N: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Negatives at least as similar as the best positive, (P, N), and who has one, (N,)."""
    same_NN = labels_N[:, None] == labels_N
    positive_NN = same_NN.clone().fill_diagonal_(False)
    unit_PND = unit_float32(embeddings_PND.flatten(0, 1)).view(embeddings_PND.shape)
    S_PNN = unit_PND @ unit_PND.transpose(1, 2)
    best_PN1 = S_PNN.masked_fill(~positive_NN, -inf).amax(2, keepdim=True)
    S_PNN.masked_fill_(same_NN, -inf)
    has_positive_N = positive_NN.any(1)
    best_PN1.masked_fill_(~has_positive_N[:, None], inf)
    slack = 2.0 * float32_slack(embeddings_PND.shape[2])  # both sides of a comparison may be off
    flags_PNN = torch.empty_like(S_PNN)
    possible_PN = torch.ge(S_PNN, best_PN1 - slack, out=flags_PNN).sum(2)
    certain_PN = torch.ge(S_PNN, best_PN1 + slack, out=flags_PNN).sum(2)
    above_PN = certain_PN.long()
    doubtful_PN = possible_PN != certain_PN
    for member in doubtful_PN.any(1).nonzero().squeeze(1).tolist():
        rows_R = doubtful_PN[member].nonzero().squeeze(1)
        above_PN[member, rows_R] = _exactly_above(
            embeddings_PND[member], rows_R, positive_NN, same_NN
        )
    return above_PN, has_positive_N, (possible_PN - certain_PN).sum(1).long()


def _exactly_above(
    embeddings_ND: Tensor, rows_R: Tensor, positive_NN: Tensor, same_NN: Tensor
) -> Tensor:
    unit_ND = unit_float64(embeddings_ND)
    S_RN = unit_ND[rows_R] @ unit_ND.T
    best_R1 = S_RN.masked_fill(~positive_NN[rows_R], -inf).amax(1, keepdim=True)
    is_above_RN = (best_R1 - FLOAT64_SLACK <= S_RN) & ~same_NN[rows_R]
    return is_above_RN.sum(1)

"""Polar sine loss (Berlemont et al. 2016): samples of different classes, all orthogonal.

S_BB = cosines, B = batch.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter

# Taken off every cosine of a tuple, so that equal embeddings leave a determinant above 0.
_SHRINKAGE = 1e-6


class PolarSine(Loss):
    """A reference and one negative of each other class should be orthogonal to one another.

    mean over references of: the mean over its positives of (1 - S)^2
    + negative_weight * (1 - det(G)^(1/n))^2, where G holds the cosines among the n vectors of its
    tuple, itself among them. The root of the determinant is 1 where they are all orthogonal and 0
    where they are linearly dependent.

    Source: Berlemont et al. 2016, Polar Sine Based Siamese Neural Network; Duffner et al. 2021,
    without a weight. The source takes one negative of each class. Here the first sample of
    every class in the batch form one tuple, the second samples another, and so on; each is the
    tuple of all references in it. More than D vectors are always dependent: a tuple of more
    classes is cut, in the order of the labels, into tuples of at most D. So the value depends on
    the order of the samples within a class, but not on where the classes are in the batch.

    Off the diagonal G is shrunk by 1e-6. The determinant is computed in float64. A sample alone in
    its class is a negative only. Without references the loss is 0 with gradient 0; every tuple is
    active.

    Args:
        negative_weight: weight of the polar sine's term.
    """

    kind = "tuple"
    source = (
        "Berlemont et al. 2016, Polar Sine Based Siamese Neural Network for Gesture Recognition"
    )
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "negative_weight": Parameter(
            1.0, Interval(1e-3, 1e3), source="paper, whose formula has no weight"
        )
    }
    invariances = frozenset({"rotation", "scale"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BB = cosines(batch)
        positive_BB, _ = pair_masks(batch)
        num_positives_B = positive_BB.sum(1)
        pull_B = (1.0 - S_BB).square().where(positive_BB, 0.0).sum(1)
        pull_B = pull_B / num_positives_B.clamp(min=1)
        polar_sine_B = _polar_sines(batch).to(S_BB.dtype)
        push_B = hyperparameters["negative_weight"] * (1.0 - polar_sine_B).square()
        is_reference_B = num_positives_B > 0
        value = masked_mean(pull_B + push_B, is_reference_B)
        return LossOutput(value, is_reference_B.any().to(value.dtype))


def _polar_sines(batch: Batch) -> Tensor:
    """det(G)^(1/n) of the tuple each sample is in: shape (B,), float64.

    All tuples together are one block-diagonal matrix, its rows interleaved. Cholesky's factor has
    no entry where two blocks cross, so the squared pivots of a block multiply to its determinant.
    """
    z_BD = batch.normalised_BD.double()  # in float32 the cosines of equal embeddings may not be
    same_tuple_BB = _same_tuple(batch.labels_B, embedding_dim=z_BD.shape[1])
    diagonal_BB = torch.eye(len(z_BD), dtype=z_BD.dtype, device=z_BD.device)
    shrunk_BB = (1.0 - _SHRINKAGE) * (z_BD @ z_BD.T)
    blocks_BB = torch.where(same_tuple_BB & (diagonal_BB == 0.0), shrunk_BB, diagonal_BB)
    # Unlike `cholesky` it does not make CUDA wait; the shrinkage has made sure that it succeeds.
    factor_BB, _ = torch.linalg.cholesky_ex(blocks_BB)
    log_pivots_B = 2.0 * factor_BB.diagonal().log()
    weights_BB = same_tuple_BB.to(z_BD.dtype)
    return torch.exp((weights_BB @ log_pivots_B) / weights_BB.sum(1))


def _same_tuple(labels_B: Tensor, embedding_dim: int) -> Tensor:
    """Which samples are in one tuple: those of one rank within their classes, cut at D classes."""
    same_BB = labels_B[:, None] == labels_B
    rank_B = same_BB.tril(-1).sum(1)
    is_lower_class_BB = (labels_B[:, None] > labels_B) & (rank_B == 0)
    part_B = is_lower_class_BB.sum(1).div(embedding_dim, rounding_mode="floor")
    tuple_B = rank_B * len(labels_B) + part_B
    return tuple_B[:, None] == tuple_B

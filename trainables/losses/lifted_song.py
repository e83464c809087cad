"""Lifted structure loss as first published (Song et al. 2016): one positive pair at a time.

D_BB = distances, B = batch.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import distances, log_sum_exp, masked_mean, squared_distances
from podium.trainables.settings.legal_ranges import Interval, Parameter


class LiftedSong(Loss):
    """Every positive pair against the negatives of both its ends, on embeddings of any length.

    mean over pairs (i, j) of one class of 1/2 of the square of
    [D_ij + log(sum_{N(i)} exp(margin - D_ik) + sum_{N(j)} exp(margin - D_jl))]+

    Source: Song et al. 2016, equation 4, whose sum over unordered pairs is divided by twice their
    number. Duffner et al. print the square within the hinge. Distances are not squared; below
    1e-6 they count as that, with gradient 0. A batch of one class is 0 with gradient 0.

    Args:
        margin: distance negatives should keep.
    """

    kind = "tuple"
    source = "Song et al. 2016, Deep Metric Learning via Lifted Structured Feature Embedding"
    needs = frozenset({"balanced"})
    declared = {"margin": Parameter(1.0, Interval(0.0, 10.0), unit="distance", source="paper")}
    invariances = frozenset({"permutation", "rotation"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A positive pair is active where its hinge is open."""
        D_BB = distances(squared_distances(batch.embeddings_BD, batch.embeddings_BD))
        positive_BB, negative_BB = pair_masks(batch)
        pair_BB = positive_BB & negative_BB.any(1, keepdim=True)
        near_B = hyperparameters["margin"] + log_sum_exp(-D_BB, negative_BB, dim=1)
        violation_BB = D_BB + torch.logaddexp(near_B[:, None], near_B)
        active_BB = pair_BB & (violation_BB > 0.0)
        value = 0.5 * masked_mean(violation_BB.square().where(active_BB, 0.0), pair_BB)
        return LossOutput(value, active_BB.sum() / pair_BB.sum().clamp(min=1))

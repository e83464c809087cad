"""Triangular similarity (Zheng et al. 2015): trains angle and length of pairs in one formula.

B = batch, R = references, D = embedding dimension.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import distances, dot_products


class Triangular(Loss):
    """Two sides of a triangle against its third: equal unit vectors, or opposite ones.

    mean over positives (t = 1) plus mean over negatives (t = -1) of
    |a|^2 / 2 + |b|^2 / 2 - |a + t b| + 1, with embeddings a and b as the network gave them.

    It is at least 0, and 0 where a = t b and |a| = |b| = 1: it trains the length as well as the
    angle, so it is not for normalised embeddings.

    Source: Zheng et al. 2015; Duffner et al. 2021. Pairs are summed there; here the two sides are
    averaged apart. Where |a + t b| is below 1e-6, it is 1e-6 with gradient 0. Every pair is
    active.
    """

    kind = "pair"
    source = "Zheng et al. 2015, Triangular Similarity Metric Learning for Face Verification"
    needs = frozenset({"balanced"})
    invariances = frozenset({"permutation", "rotation"})
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        partners_RD = batch.embeddings_BD
        if batch.references is not None:
            partners_RD = batch.references.embeddings_RD
        pairs = pair_masks(batch)
        twice_t_BR = torch.where(pairs.positive_BR, 2.0, -2.0)
        squares_B1 = batch.embeddings_BD.square().sum(1)[:, None]
        two_sides_BR = squares_B1 + partners_RD.square().sum(1)
        third_side_BR = distances(two_sides_BR + twice_t_BR * dot_products(batch))
        return mean_of_both_sides(0.5 * two_sides_BR - third_side_BR + 1.0, pairs)

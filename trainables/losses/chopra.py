"""Loss of Chopra et al. 2005: as `contrastive_l2`, with an exponential in place of the hinge.

B = batch, R = references, D = embedding dimension.
"""

import math

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import distances, squared_distances
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter


class Chopra(Loss):
    """A square pulls positives together, an exponential pushes negatives apart.

    mean over positives of (2 / Q) d^2 + mean over negatives of 2 Q exp(-decay d / Q).

    d is the distance of the normalised embeddings and Q the largest there can be on the unit
    sphere: 2 sqrt(D) for the L1 distance of the source, 2 for L2.

    Source: Chopra et al. 2005, where decay is 2.77. Pairs are summed there; here the two sides are
    averaged apart. Under L2 a negative closer than 1e-6 has no gradient. Every pair is active.

    Args:
        distance: ``l1`` or ``l2``. Under ``l2`` a rotation leaves the value as it is, too.
        decay: rate at which the push fades with d / Q.
    """

    kind = "pair"
    source = "Chopra et al. 2005, Learning a Similarity Metric Discriminatively"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "distance": Parameter("l1", OneOf(("l1", "l2")), source="paper"),
        "decay": Parameter(2.77, Interval(1e-2, 1e2), source="paper"),
    }
    invariances = frozenset({"permutation", "scale"})
    # As of torch 2.15 the gradient of cdist is wrong where vmap maps only over what follows it.
    is_vmappable = False
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        z_BD = batch.normalised_BD
        z_RD = z_BD if batch.references is None else batch.references.normalised_RD
        if hyperparameters["distance"] == "l1":
            largest = 2.0 * math.sqrt(z_BD.shape[1])
            d_BR = torch.cdist(z_BD, z_RD, p=1.0)
            squared_BR = d_BR.square()
        else:
            largest = 2.0
            squared_BR = squared_distances(z_BD, z_RD)
            d_BR = distances(squared_BR)
        pull_BR = (2.0 / largest) * squared_BR
        push_BR = 2.0 * largest * torch.exp(-hyperparameters["decay"] / largest * d_BR)
        pairs = pair_masks(batch)
        return mean_of_both_sides(torch.where(pairs.positive_BR, pull_BR, push_BR), pairs)

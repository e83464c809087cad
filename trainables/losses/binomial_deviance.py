"""Binomial deviance (Yi et al. 2014): pairs as in `contrastive`, with a soft step for the hinge.

S_BR = cosines, B = batch, R = references.
"""

from torch.nn.functional import logsigmoid

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class BinomialDeviance(Loss):
    """A soft step at the margin for every pair, steeper for negatives.

    mean over positives of log(1 + exp(-alpha (S - margin)))
    + mean over negatives of log(1 + exp(alpha negative_weight (S - margin)))

    Source: Yi et al. 2014, equation 6, with the constants of Opitz et al. 2018 (BIER). At
    alpha = 2, margin = 0 and negative_weight = 1 it is the form of Duffner et al. A side without
    pairs is 0 with gradient 0; every other pair is active.

    Args:
        alpha: sharpness.
        margin: cosine at which a pair is undecided.
        negative_weight: factor of alpha on negatives.
    """

    kind = "pair"
    source = "Yi et al. 2014, Deep Metric Learning for Practical Person Re-Identification"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "alpha": Parameter(
            2.0, Interval(1e-3, 1e3), unit="1/cosine", source="Opitz et al. 2018 (BIER)"
        ),
        "margin": Parameter(
            0.5, Interval(-1.0, 1.0), unit="cosine", source="Opitz et al. 2018 (BIER)"
        ),
        "negative_weight": Parameter(25.0, Interval(1e-3, 1e3), source="Opitz et al. 2018 (BIER)"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        pairs = pair_masks(batch)
        above_BR = hyperparameters["alpha"] * (cosines(batch) - hyperparameters["margin"])
        below_BR = -hyperparameters["negative_weight"] * above_BR
        return mean_of_both_sides(-logsigmoid(above_BR.where(pairs.positive_BR, below_BR)), pairs)

"""Lifted structure loss as in the code of Psomas 2020: on mined pairs, without a hinge.

S_BR = cosines, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._multi_similarity import kept_fraction, mine_pairs
from podium.trainables.losses._pairs import cosines, log_sum_exp
from podium.trainables.settings.legal_ranges import Interval, Parameter


class LiftedMined(Loss):
    """Soft extremes of the mined pairs of each anchor, without a hinge.

    mean over anchors of 2/beta log sum_P exp(-beta S) + 2/alpha log sum_N exp(alpha S), over
    the pairs `mine_pairs` keeps.

    Source: the code of Psomas 2020, whose text gives `LiftedStructure` instead. The code fixes
    the slack of its miner at 0.1. The mean runs over all anchors of the batch; one without a kept
    pair adds 0 with gradient 0.

    Args:
        alpha: sharpness on negatives.
        beta: sharpness on positives.
        epsilon: slack of the miner (cosine); at 2 every pair of an anchor is kept.
    """

    kind = "tuple"
    source = "the code of Psomas 2020, Metric Learning: A Deep Dive"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "alpha": Parameter(40.0, Interval(1e-3, 1e3), unit="1/cosine", source="thesis code"),
        "beta": Parameter(2.0, Interval(1e-3, 1e3), unit="1/cosine", source="thesis code"),
        "epsilon": Parameter(0.1, Interval(0.0, 2.0), unit="cosine", source="thesis code"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if the miner keeps it."""
        alpha, beta = hyperparameters["alpha"], hyperparameters["beta"]
        S_BR = cosines(batch)
        pairs = pair_masks(batch)
        kept = mine_pairs(S_BR, pairs, hyperparameters["epsilon"])
        pull_B = log_sum_exp(-beta * S_BR, kept.positive_BR, dim=1) / beta
        push_B = log_sum_exp(alpha * S_BR, kept.negative_BR, dim=1) / alpha
        return LossOutput(2.0 * (pull_B + push_B).mean(), kept_fraction(kept, pairs))

"""Lifted structure loss of Hermans et al. 2017: all or the hard pairs of an anchor, on cosines.

S_BR = cosines, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._multi_similarity import mine_pairs
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class LiftedStructure(Loss):
    """All positives of an anchor against all its negatives, both as a soft maximum.

    mean over anchors of [log sum_P exp(margin - S) + log sum_N exp(S)]+

    Source: Hermans et al. 2017, equation 7, in the cosine form of Psomas 2020, equation 2.21.
    The trailing + there is the hinge, and P is without the anchor itself. The sum over anchors is
    a mean here. It runs over all anchors of the batch; one without positives or without negatives,
    or of whose pairs none is kept, adds 0 with gradient 0. Table 5 of the thesis mines hard pairs,
    which is `epsilon` below 2; its code does so by a slack of 0.1. `LiftedSong` is the original
    loss, `LiftedMined` the formula of the thesis's code.

    Args:
        margin: cosine by which the positives have to lead (lambda in the thesis).
            A soft maximum exceeds the maximum by up to the logarithm of the number of pairs, so
            the hinge rarely closes at a margin above 0.
        epsilon: slack of `mine_pairs` (cosine); at 2 every pair of an anchor is kept.
    """

    kind = "tuple"
    source = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.21 (Hermans et al. 2017)"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.5, Interval(-10.0, 10.0), unit="cosine", source="thesis table 4"),
        "epsilon": Parameter(
            2.0, Interval(0.0, 2.0), unit="cosine", source="paper (thesis table 5: hard pairs)"
        ),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor with pairs is active where the hinge is open."""
        S_BR = cosines(batch)
        pairs = pair_masks(batch)
        positive_BR, negative_BR = mine_pairs(S_BR, pairs, hyperparameters["epsilon"])
        # Cosines are small, so that their exponentials need no maximum taken out first.
        pull_B = S_BR.neg().exp().where(positive_BR, 0.0).sum(1)
        push_B = S_BR.exp().where(negative_BR, 0.0).sum(1)
        product_B = pull_B * push_B
        is_kept_B = product_B > 0.0
        violation_B = hyperparameters["margin"] + product_B.where(is_kept_B, 1.0).log()
        active_B = is_kept_B & (violation_B > 0.0)
        value = violation_B.where(active_B, 0.0).mean()
        has_both_B = pairs.positive_BR.any(1) & pairs.negative_BR.any(1)
        return LossOutput(value, active_B.sum() / has_both_B.sum().clamp(min=1))

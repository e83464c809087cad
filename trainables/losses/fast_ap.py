"""FastAP (Cakir et al. 2019): average precision by histograms; `smooth_ap` has sigmoids.

B = batch, R = references, N = nodes.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._histograms import node_shares, soft_histograms
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Parameter, Whole


class FastAp(Loss):
    """1 - average precision of the ranking by distance, with ranks from a histogram.

    Squared distances 2 - 2 S, from 0 to 4, are counted at ``bins`` + 1 nodes, each shared by the
    two it lies between: h+ for positives, h- for negatives, H+ and H- summed from the nearest
    node on, H = H+ + H-.
    FastAP_i = sum over nodes of h+ H+ / H, divided by the number of positives.
    The loss is the mean of 1 - FastAP_i over anchors with a positive.

    Source: Cakir et al. 2019. ``bins`` counts intervals, as in the authors' code, and not nodes.

    An anchor without negatives is ranked perfectly: it counts in the mean with 0 and gradient 0.

    Args:
        bins: intervals of the squared distance.
    """

    kind = "ranking"
    source = "Cakir et al. 2019, Deep Metric Learning to Rank"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "bins": Parameter(10, Whole(1, 1000), unit="intervals", source="pytorch-metric-learning")
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if a positive may not be nearer than a negative.

        Near in terms of nodes: where all positives lie before all negatives no gradient is left.
        """
        bins = hyperparameters["bins"]
        pairs = pair_masks(batch)
        positions_BR = (1.0 - cosines(batch)) * (bins / 2.0)
        lower_BR, share_BR = node_shares(positions_BR, bins)
        positive_BN, negative_BN = soft_histograms(lower_BR, share_BR, pairs, bins)
        nearer_positive_BN, nearer_negative_BN = positive_BN.cumsum(1), negative_BN.cumsum(1)
        nearer_BN = nearer_positive_BN + nearer_negative_BN
        # 1 - H+ / H = H- / H, which is exactly 0 without negatives.
        impurity_BN = nearer_negative_BN / nearer_BN.where(nearer_BN > 0.0, 1.0)
        num_positives_B = pairs.positive_BR.sum(1)
        missed_B = (positive_BN * impurity_BN).sum(1) / num_positives_B.clamp(min=1)
        last_positive_B = (lower_BR + 1).where(pairs.positive_BR, -1).amax(1)
        first_negative_B = lower_BR.where(pairs.negative_BR, bins + 1).amin(1)
        active_B = last_positive_B >= first_negative_B
        value = masked_mean(missed_B, num_positives_B > 0)
        return LossOutput(value, active_B.sum() / len(active_B))

"""SupAP of ROADMAP (Ramzi et al. 2021): an upper bound of 1 - average precision, not saturating.

S_BB = cosines, B = batch.
"""

from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter

# Cosines that differ by less count as equal.
_TIE = 1e-6


class SupAp(Loss):
    """1 - average precision, with exact ranks among positives and bounds on negatives before one.

    1 - AP_i = mean over positives j of N_j / (R_j + N_j),
    R_j = 1 + how many other positives k have S_ik >= S_ij, without gradient,
    N_j = sum over negatives n of h(S_in - S_ij), h(t) = sigmoid(t / temperature) for t <= 0,
    sigmoid(t / temperature) + 0.5 up to delta, slope (t - delta) + offset beyond.
    The loss is the mean of 1 - AP_i over anchors with a positive.

    Source: Ramzi et al. 2021, who add a calibration of weight 1:
    ``sup_ap+threshold_consistent_margin`` with the latter's negative_margin at 0.6. The authors'
    code has the anchor among its own positives; here it is no partner of itself.

    An anchor without negatives counts in the mean with 0 and gradient 0. Memory grows with B^3.

    Args:
        temperature: cosine over which a comparison tips (tau in the paper).
        slope: how fast a negative far before a positive costs more (rho).
        offset: its cost at delta.
        delta: difference of cosines where the line begins.
    """

    kind = "ranking"
    source = "Ramzi et al. 2021, Robust and Decomposable Average Precision for Image Retrieval"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "temperature": Parameter(0.01, Interval(1e-4, 10.0), unit="cosine", source="paper"),
        "slope": Parameter(100.0, Interval(0.0, 1e4), unit="1/cosine", source="paper"),
        "offset": Parameter(1.44, Interval(0.0, 1e2), source="authors' code"),
        "delta": Parameter(0.05, Interval(0.0, 2.0), unit="cosine", source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has positives and negatives."""
        S_BB = cosines(batch)
        positive_BB, negative_BB = pair_masks(batch)
        # (anchor, ranked, compared).
        ahead_BBB = S_BB[:, None, :] - S_BB[:, :, None]
        bounds_BBB = _bound(ahead_BBB, hyperparameters)
        before_BB = (bounds_BBB @ negative_BB.to(S_BB.dtype)[:, :, None]).squeeze(2)
        not_behind_BBB = (ahead_BBB > -_TIE) & positive_BB[:, None, :]
        # A positive is among its own comparisons, which makes the 1 of its rank.
        rank_BB = not_behind_BBB.sum(2) + before_BB
        missed_BB = (before_BB / rank_BB.where(positive_BB, 1.0)).where(positive_BB, 0.0)
        missed_B = missed_BB.sum(1) / positive_BB.sum(1).clamp(min=1)
        active_B = positive_BB.any(1) & negative_BB.any(1)
        return LossOutput(masked_mean(missed_B, positive_BB.any(1)), active_B.sum() / len(S_BB))


def _bound(ahead: Tensor, hyperparameters: Hyperparameters) -> Tensor:
    """What a negative that is ``ahead`` of a positive costs: h of `SupAp`."""
    delta = hyperparameters["delta"]
    tipping = (ahead / hyperparameters["temperature"]).sigmoid() + 0.5 * (ahead > _TIE)
    line: Tensor = hyperparameters["slope"] * (ahead - delta) + hyperparameters["offset"]
    return line.where((ahead > delta) & (ahead > _TIE), tipping)

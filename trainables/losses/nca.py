"""NCA (Goldberger et al. 2004): probability to pick a neighbour of the own class; no proxies.

S_BR = cosines, B = batch, R = references.
"""

from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, log_sum_exp, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter

# Up to here softplus is computed; above, its argument stands for it, right to every digit.
_LINEAR_FROM = 40.0


class Nca(Loss):
    """Minus the log of the probability that an anchor picks a neighbour of its own class.

    p_i = sum_P exp(-s D^2) / sum_{all others} exp(-s D^2), with D^2 = 2 - 2 S: the distance of
    normalised embeddings. The loss is the mean of -log p_i over anchors with a positive.

    Source: Goldberger et al. 2004, section 2: the second of the two objectives there (the sum of
    log p_i, which is a KL divergence), with a network in place of the linear map. The paper's map
    may grow, so it needs no scale s; on the sphere s takes that place.

    An anchor without negatives picks its class for sure: it counts in the mean with 0 and
    gradient 0.

    Args:
        softmax_scale: s, per squared distance.
    """

    kind = "tuple"
    source = "Goldberger et al. 2004, Neighbourhood Components Analysis, section 2"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "softmax_scale": Parameter(
            1.0,
            Interval(1e-3, 1e3),
            unit="1/squared distance",
            source="paper, whose formula has no scale",
        )
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has positives and negatives."""
        # -s D^2 without the -2 s, which is in every exponent.
        exponents_BR = 2.0 * hyperparameters["softmax_scale"] * cosines(batch)
        positive_BR, negative_BR = pair_masks(batch)
        has_positive_B = positive_BR.any(1)
        active_B = has_positive_B & negative_BR.any(1)
        log_odds_B = log_sum_exp(exponents_BR, negative_BR, dim=1)
        log_odds_B = log_odds_B - log_sum_exp(exponents_BR, positive_BR, dim=1)
        missed_B = softplus(log_odds_B, threshold=_LINEAR_FROM)
        value = masked_mean(missed_B.where(active_B, 0.0), has_positive_B)
        return LossOutput(value, active_B.sum() / len(active_B))

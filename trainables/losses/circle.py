"""Circle loss (Sun et al. 2020): each pair weighs by how far its cosine is from its optimum.

S_BR = cosines, B = batch, R = references.
"""

from torch.nn.functional import logsigmoid

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, log_sum_exp
from podium.trainables.settings.legal_ranges import Interval, Parameter


class Circle(Loss):
    """Every positive of an anchor against every negative, each pushed by how far it has to go.

    mean over anchors of log(1 + sum_N exp(gamma a_n (S_n - margin))
    sum_P exp(-gamma a_p (S_p - 1 + margin))), a_n = [S_n + margin]+, a_p = [1 + margin - S_p]+.

    Source: Sun et al. 2020, equation 6 with the optima and margins of section 3.2. The weights a
    pass no gradient on. The mean runs over all anchors of the batch; one without positives or
    without negatives adds 0 with gradient 0.

    Args:
        gamma: sharpness.
        margin: relaxation of the optima 1 and 0 (cosine).
    """

    kind = "tuple"
    source = "Sun et al. 2020, Circle Loss: a Unified Perspective of Pair Similarity Optimization"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "gamma": Parameter(80.0, Interval(1e-3, 1e4), unit="1/cosine^2", source="paper"),
        "margin": Parameter(0.4, Interval(0.0, 1.0), unit="cosine", source="paper"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has both positives and negatives."""
        gamma, margin = hyperparameters["gamma"], hyperparameters["margin"]
        S_BR = cosines(batch)
        fixed_BR = S_BR.detach()
        positive_BR, negative_BR = pair_masks(batch)
        pull_BR = gamma * (1.0 + margin - fixed_BR).clamp(min=0.0) * (1.0 - margin - S_BR)
        push_BR = gamma * (fixed_BR + margin).clamp(min=0.0) * (S_BR - margin)
        pull_B = log_sum_exp(pull_BR, positive_BR, dim=1)
        push_B = log_sum_exp(push_BR, negative_BR, dim=1)
        active_B = positive_BR.any(1) & negative_BR.any(1)
        value = -logsigmoid(-pull_B - push_B).where(active_B, 0.0).mean()
        return LossOutput(value, active_B.to(value.dtype).mean())

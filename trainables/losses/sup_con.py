"""SupCon (Khosla et al. 2020): cross-entropy of each positive among all samples of the batch.

S_BR = cosines, B = batch, R = references.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class SupCon(Loss):
    """Cross-entropy of each positive among all other samples of the batch.

    mean over anchors of log sum_{P and N} exp(S / temperature) - mean over P of S / temperature

    Source: Khosla et al. 2020, equation 2 (the mean of logarithms, L_out), with the samples of a
    batch in place of two views of each image. The mean runs over all anchors of the batch; one
    without positives or without negatives adds 0 with gradient 0.

    Args:
        temperature: cosine that changes a probability by the factor e.
    """

    kind = "tuple"
    source = "Khosla et al. 2020, Supervised Contrastive Learning, equation 2"
    needs = frozenset({"balanced", "normalised"})
    declared = {"temperature": Parameter(0.1, Interval(1e-3, 1e2), unit="cosine", source="paper")}
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has both positives and negatives."""
        logits_BR = cosines(batch) / hyperparameters["temperature"]
        positive_BR, negative_BR = pair_masks(batch)
        # Not -inf, which would make the gradient of an anchor without partners not a number.
        lowest = torch.finfo(logits_BR.dtype).min
        total_B = logits_BR.masked_fill(~(positive_BR | negative_BR), lowest).logsumexp(1)
        num_positives_B = positive_BR.sum(1)
        mean_B = logits_BR.where(positive_BR, 0.0).sum(1) / num_positives_B.clamp(min=1)
        active_B = (num_positives_B > 0) & negative_BR.any(1)
        value = (total_B - mean_B).where(active_B, 0.0).mean()
        return LossOutput(value, active_B.to(value.dtype).mean())

"""NT-Xent (Chen et al. 2020), also called InfoNCE, and its decoupled forms DCL and DCLW.

S_BR = cosines, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, log_sum_exp, masked_mean
from podium.trainables.losses._tuplets import against_all_negatives
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter

# Temperature of the weights of DCLW (sigma in the paper).
_WEIGHT_TEMPERATURE = 0.5


class NTXent(Loss):
    """Cross-entropy of a positive among it and all negatives; decoupled, among negatives only.

    nt_xent: mean over pairs (i, j) of one class of
    -log(exp(S_ij / t) / (exp(S_ij / t) + sum_{k in N(i)} exp(S_ik / t)));
    dcl: mean over these pairs of -S_ij / t + log sum_{k in N(i)} exp(S_ik / t);
    dclw: the same with -w_ij S_ij / t, w = 2 - exp(S_ij / 0.5) / mean over pairs of exp(S / 0.5).

    Source: Chen et al. 2020, equation 1; Yeh et al. 2022. Samples of one class take the place of
    two views of an image: every positive takes its turn, against negatives only, as in
    pytorch-metric-learning; `sup_con` has the other positives in the sum too. Implementations of
    dclw differ in whether its weights w have a gradient; here they have none.

    Anchors without positives or without negatives are left out.

    Args:
        temperature: cosine that changes a probability by the factor e (t above).
        variant: nt_xent, dcl or dclw.
    """

    kind = "tuple"
    source = (
        "Chen et al. 2020, SimCLR, equation 1; Yeh et al. 2022, Decoupled Contrastive Learning"
    )
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "temperature": Parameter(
            0.07, Interval(1e-3, 1e2), unit="cosine", source="pytorch-metric-learning"
        ),
        "variant": Parameter("nt_xent", OneOf(("nt_xent", "dcl", "dclw")), source="own"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if its anchor has negatives."""
        S_BR = cosines(batch)
        logits_BR = S_BR / hyperparameters["temperature"]
        pairs = pair_masks(batch)
        output = against_all_negatives(logits_BR, logits_BR, pairs)
        if hyperparameters["variant"] == "nt_xent":
            return output
        pair_BR = pairs.positive_BR & pairs.negative_BR.any(1, keepdim=True)
        if hyperparameters["variant"] == "dclw":
            powers_BR = (S_BR.detach() / _WEIGHT_TEMPERATURE).exp()
            mean = masked_mean(powers_BR, pair_BR)
            logits_BR = logits_BR * (2.0 - powers_BR / mean.where(mean > 0.0, 1.0))
        negative_B = log_sum_exp(S_BR / hyperparameters["temperature"], pairs.negative_BR, dim=1)
        return output._replace(value=masked_mean(negative_B[:, None] - logits_BR, pair_BR))

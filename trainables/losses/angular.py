"""Angular loss (Wang et al. 2017): bounds an angle of the triangle of a triplet, not a distance.

S_BB = cosines, subscripts a, p, n = anchor, positive, negative, t = squared tangent of the angle,
B = batch.
"""

import math

from torch import Tensor
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import PairMasks, pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter


class Angular(Loss):
    """A bound on the angle under which a negative sees the anchor and the positive.

    With t = tan^2(angle), c = (a + p) / 2 and unit vectors a, p, n,
    smooth: mean over pairs (a, p) of log(1 + sum over n of exp(4 t (a + p).n - 2 (1 + t) a.p)),
    hinge: mean over triplets with an open hinge of [|a - p|^2 - 4 t |n - c|^2]+.

    Source: Wang et al. 2017, who derive the hinge for triplets and train the smooth form on N-pair
    batches; the exponent is the hinge without its constant 2 - 6 t. Here every positive takes its
    turn, and the negatives are all samples of other classes. Their joint loss is the sum
    ``n_pair+angular`` with ``angular.weight`` 2.

    The smooth form is active wherever there are triplets, the other where its hinge is open; if
    nothing is the value is 0 with gradient 0. Time and memory of the hinges grow with B^3.

    Args:
        angle_degrees: upper bound (alpha in the paper).
        form: ``smooth`` or ``hinge``.
    """

    kind = "tuple"
    source = "Wang et al. 2017, Deep Metric Learning with Angular Loss"
    needs = frozenset({"balanced", "normalised"})
    # Beyond 70 degrees the exponents outgrow float32.
    declared = {
        "angle_degrees": Parameter(
            45.0, Interval(0.0, 70.0), unit="degrees", source="Roth et al. 2020"
        ),
        "form": Parameter("smooth", OneOf(("smooth", "hinge")), source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BB = cosines(batch)
        # Not of Python's math: the angle may be a tensor.
        angle = S_BB.new_zeros(()) + hyperparameters["angle_degrees"] * (math.pi / 180.0)
        is_smooth = hyperparameters["form"] == "smooth"
        form = _smooth if is_smooth else _hinge
        return form(S_BB, pair_masks(batch), angle.tan().square())


def _smooth(S_BB: Tensor, pairs: PairMasks, t: Tensor) -> LossOutput:
    """The sum over n is a product of matrices, since anchor and positive share their negatives.

    exp(4 t (S_an + S_pn)) is a factor of a times one of p, each divided by the largest of its row.
    """
    positive_BB, negative_BB = pairs
    top_B1 = S_BB.detach().masked_fill(~negative_BB, -1.0).amax(1, keepdim=True)
    powers_BB = (4.0 * t * (S_BB - top_B1)).exp() * negative_BB
    pulled_BB = positive_BB & negative_BB.any(1, keepdim=True)
    sums_BB = (powers_BB @ powers_BB.T).where(pulled_BB, 1.0)
    exponents_BB = sums_BB.log() + 4.0 * t * (top_B1 + top_B1.T) - 2.0 * (1.0 + t) * S_BB
    is_active = pulled_BB.any().to(S_BB.dtype)
    return LossOutput(masked_mean(softplus(exponents_BB), pulled_BB), is_active)


def _hinge(S_BB: Tensor, pairs: PairMasks, t: Tensor) -> LossOutput:
    """The hinge is linear in the cosines: 2 - 6 t - 2 (1 + t) S_ap + 4 t (S_an + S_pn)."""
    positive_BB, negative_BB = pairs
    of_pair_BB = 2.0 - 6.0 * t - 2.0 * (1.0 + t) * S_BB
    detached_BB, fixed_BB = S_BB.detach(), of_pair_BB.detach()
    of_negative_BBB = 4.0 * t * (detached_BB[:, None, :] + detached_BB[None, :, :])
    is_triplet_BBB = positive_BB[:, :, None] & negative_BB[:, None, :]
    is_open_BBB = is_triplet_BBB & (of_negative_BBB > -fixed_BB[:, :, None])

    open_BBB = is_open_BBB.to(S_BB.dtype)
    num_positive_BB, num_negative_BB = open_BBB.sum(2), open_BBB.sum(1)
    num_open = num_positive_BB.sum()
    # Anchor and positive may change places, so S_pn adds up to as much as S_an.
    total = (num_positive_BB * of_pair_BB + 8.0 * t * num_negative_BB * S_BB).sum()
    num_triplets = (positive_BB.sum(1) * negative_BB.sum(1)).sum().clamp(min=1)
    return LossOutput(total / num_open.clamp(min=1.0), num_open / num_triplets)

"""Loss of Mohan et al. 2020: `proxy_nca`, regularised by the direction of other proxies.

S_BC = cosines to proxies, D2_BC = squared distances, B = batch, C = training classes.
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import log_sum_exp_of_others, own_class
from podium.trainables.losses._pairs import distances
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter

# Closer to a proxy the direction to it is lost in the rounding of float32.
_CLOSEST_SQUARE = 1e-6


class DRProxyNCA(ProxyLoss):
    """`ProxyNCA` that also minds in which direction the proxies of other classes lie.

    mean over samples of
    -log(exp(-scale D2_y) / sum_{c != y} exp(-scale D2_c - gamma cos(w_c - z, w_y - z))),
    z = sample, w = proxies, both of length 1; D2_c = |z - w_c|^2.

    Source: Mohan et al. 2020. The regulariser is not scaled, as it is an angle. Where z is its own
    proxy (squared distance below 1e-6) no direction is wrong, and where it is w_c that class has
    none: there the cosine is 0 with gradient 0.

    Every sample is active; with a single class there are no negatives, and the value is 0 with
    gradient 0.

    Args:
        scale: factor of the squared distances.
        gamma: weight of the directions; at 0 the loss is `ProxyNCA`.
        form: ``printed`` takes (1 - cos(w_y, z)) / (|w_c - z| |w_y - z|) for the cosine, as the
            survey of Mohan et al. 2023 (eq. 32) and GradML print.
    """

    kind = "proxy"
    source = "Mohan et al. 2020, Moving in the Right Direction"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "scale": Parameter(
            1.0, Interval(1e-3, 1e3), unit="1/squared distance", source="proxy_nca's"
        ),
        "gamma": Parameter(0.1, Interval(0.0, 100.0), source="own: none is published"),
        "form": Parameter("cosine", OneOf(("cosine", "printed")), source="the name, not eq. 32"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        proxies_CD, labels_B = parameters["proxies"], batch.labels_B
        S_BC = proxy_cosines(batch.normalised_BD, proxies_CD)
        if S_BC.shape[1] == 1:
            zero = S_BC.sum() * 0.0
            return LossOutput(zero, zero.detach())
        directions_BC = _directions(
            batch, proxies_CD, S_BC, is_printed=hyperparameters["form"] == "printed"
        )
        # The 2 of D2 = 2 - 2 S is in every exponent and cancels.
        pull_BC = 2.0 * hyperparameters["scale"] * S_BC
        push_BC = pull_BC - hyperparameters["gamma"] * directions_BC
        value = (log_sum_exp_of_others(push_BC, labels_B) - own_class(pull_BC, labels_B)).mean()
        return LossOutput(value, torch.ones_like(value))


def _directions(batch: Batch, proxies_CD: Tensor, S_BC: Tensor, *, is_printed: bool) -> Tensor:
    """cos(w_c - z, w_y - z) from products of z, w_c and w_y alone, without (B, C, D)."""
    own_B = own_class(S_BC, batch.labels_B)
    squares_B = batch.normalised_BD.square().sum(1)  # 1, or 0 of a zero embedding
    between_BC = proxy_cosines(normalize(proxies_CD[batch.labels_B], dim=1), proxies_CD)
    turned_BC = torch.zeros_like(S_BC) if is_printed else between_BC - S_BC
    products_BC = turned_BC + (squares_B - own_B)[:, None]
    D2_BC = squares_B[:, None] + 1.0 - 2.0 * S_BC
    own_D2_B = squares_B + 1.0 - 2.0 * own_B
    cosines_BC = products_BC / (distances(D2_BC) * distances(own_D2_B)[:, None])
    is_apart_BC = (D2_BC > _CLOSEST_SQUARE) & (own_D2_B > _CLOSEST_SQUARE)[:, None]
    return cosines_BC.where(is_apart_BC, 0.0)

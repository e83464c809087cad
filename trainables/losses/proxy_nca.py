"""Proxy-NCA (Movshovitz-Attias et al. 2017): `nca` on proxies, without the own class in the sum.

S_BC = cosines to proxies, B = batch, C = training classes.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import log_sum_exp_of_others, own_class
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ProxyNCA(ProxyLoss):
    """mean over samples of -log(exp(-scale D2_y) / sum_{c != y} exp(-scale D2_c)).

    D2_c is the squared distance of the sample to proxy c, both normalised, so 2 - 2 S_c.

    Source: Movshovitz-Attias et al. 2017, whose formula has no scale: it is 1, where the logits
    span no more than [-4, 0]. Psomas 2020, equation 2.27, has the cosine S_c in place of -D2_c.
    That is half of it, up to a constant that cancels: a scale of 0.5, which the recipe
    ``psomas2020`` sets. In both the own class is left out of the sum, so the value may be
    negative: it is log(exp(L) - 1) of each sample's L in `ProxyNCAPP`, the form that most code
    calls Proxy-NCA.

    Every sample is active; with a single class there are no negatives, and the value is 0 with
    gradient 0.

    Args:
        scale: factor of the squared distances.
    """

    kind = "proxy"
    source = "Movshovitz-Attias et al. 2017, No Fuss Distance Metric Learning using Proxies"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "scale": Parameter(
            1.0,
            Interval(1e-3, 1e3),
            unit="1/squared distance",
            source="paper, whose formula has no scale (thesis equation 2.27: 0.5)",
        )
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        if S_BC.shape[1] == 1:
            zero = S_BC.sum() * 0.0
            return LossOutput(zero, zero.detach())
        logits_BC = 2.0 * hyperparameters["scale"] * S_BC  # the 2 of 2 - 2 S cancels
        negative_B = log_sum_exp_of_others(logits_BC, batch.labels_B)
        value = (negative_B - own_class(logits_BC, batch.labels_B)).mean()
        return LossOutput(value, torch.ones_like(value))

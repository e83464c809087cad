"""Proxy-anchor loss (Kim et al. 2020): each proxy is an anchor for all samples of the batch.

S_BC = cosines to proxies, B = batch, C = training classes, D = embedding dimension.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import own_class
from podium.trainables.losses._pairs import log1p_sum_exp
from podium.trainables.losses._proxies import proxy_cosines, pull_to_proxies
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ProxyAnchor(ProxyLoss):
    """Each proxy is an anchor that pulls its class and pushes the rest of the batch.

    mean over classes c in the batch of log(1 + sum_{i in c} exp(-alpha (S_ic - margin)))
    + mean over all classes c of log(1 + sum_{i not in c} exp(alpha (S_ic + margin))).

    Source: Kim et al. 2020, equation 4; Psomas 2020, equation 2.31. Every sample is active.

    Args:
        alpha: sharpness.
        margin: cosine added to both sides (delta in the paper).
    """

    kind = "proxy"
    source = "Kim et al. 2020, Proxy Anchor Loss for Deep Metric Learning, equation 4"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "alpha": Parameter(32.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
        "margin": Parameter(0.1, Interval(0.0, 1.0), unit="cosine", source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        alpha, margin = hyperparameters["alpha"], hyperparameters["margin"]
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        positive = pull_to_proxies(own_class(S_BC, batch.labels_B), batch.labels_B, alpha, margin)

        is_negative_BC = torch.ones_like(S_BC, dtype=torch.bool).scatter(
            1, batch.labels_B[:, None], False
        )
        negative = log1p_sum_exp(alpha * (S_BC + margin), is_negative_BC, dim=0).mean()
        return LossOutput(positive + negative, torch.ones_like(positive))

"""CosFace (Wang et al. 2018): as `arcface`, with the margin on the cosine, not on the angle.

S_BC = cosines to proxies, B = batch, C = training classes.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import add_to_own, classify
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class CosFace(ProxyLoss):
    """Cross-entropy of scale * S, with a margin taken off the cosine to the own class.

    mean over samples of -log(exp(scale (S_y - margin)) /
    (exp(scale (S_y - margin)) + sum_{c != y} exp(scale S_c))).

    Source: Wang et al. 2018, equation 4. Every sample is active; with a single class the value is
    0 with gradient 0.

    Args:
        margin: cosine by which the own class has to win.
        scale: factor of the cosines (1/cosine).
    """

    kind = "proxy"
    source = "Wang et al. 2018, CosFace: Large Margin Cosine Loss, equation 4"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "margin": Parameter(0.35, Interval(0.0, 1.0), unit="cosine", source="paper"),
        "scale": Parameter(64.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        margin_B = torch.zeros_like(S_BC[:, 0]) + hyperparameters["margin"]
        widened_BC = add_to_own(S_BC, batch.labels_B, -margin_B)
        return classify(hyperparameters["scale"] * widened_BC, batch.labels_B)

"""Normalised softmax (Zhai and Wu 2019): `softmax` on cosines to proxies, with a scale.

S_BC = cosines, B = batch, C = training classes.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import classify
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class NormalizedSoftmax(ProxyLoss):
    """mean over samples of -log(exp(scale S_y) / sum_c exp(scale S_c)).

    Source: Zhai and Wu 2019, with scale = 1 / temperature; Duffner et al., Similarity
    Metric Learning, equation 26 (called the sphere loss there, which is not SphereFace).

    Every sample is active; with a single class the value is 0 with gradient 0.

    Args:
        scale: factor of the cosines (1/cosine).
    """

    kind = "proxy"
    source = "Zhai and Wu 2019, Classification is a Strong Baseline for Deep Metric Learning"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "scale": Parameter(
            20.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper (a temperature of 0.05)"
        )
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        return classify(hyperparameters["scale"] * S_BC, batch.labels_B)

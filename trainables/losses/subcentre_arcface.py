"""Sub-centre ArcFace (Deng et al. 2020): `arcface` with the nearest of several centres per class.

S_BKC = cosines to centres, B = batch, C = training classes, D = embedding dimension, K = centres
of a class.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import angular_margin, classify
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import CentresLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole


class SubcentreArcFace(CentresLoss):
    """`ArcFace` on classes of several centres, of which the nearest counts.

    S_c = max_k S_ck; mean over samples of -log(exp(scale cos(angle_y + margin)) /
    (exp(scale cos(angle_y + margin)) + sum_{c != y} exp(scale S_c))), S_y = cos(angle_y).

    Source: Deng et al. 2020. Only the nearest centre of a class has a gradient, the first one if
    several are equally near. Beyond 180 degrees and at S_y = 1 as in `ArcFace`; with one centre it
    is `ArcFace`.

    Every sample is active; with a single class the value is 0 with gradient 0.

    Args:
        centres: K, a whole number.
        margin_degrees: angle by which the own class has to win, in degrees.
        scale: factor of the cosines (1/cosine).
    """

    kind = "proxy"
    source = "Deng et al. 2020, Sub-center ArcFace"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "centres": Parameter(3, Whole(1, 100), source="paper"),
        "margin_degrees": Parameter(
            28.6, Interval(0.0, 90.0), unit="degrees", source="paper (0.5 rad)"
        ),
        "scale": Parameter(64.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        proxies_KCD = parameters["proxies"]
        S_BP = proxy_cosines(batch.normalised_BD, proxies_KCD.flatten(0, 1))
        S_BC = S_BP.view(-1, *proxies_KCD.shape[:2]).max(1).values
        widened_BC = angular_margin(S_BC, batch.labels_B, hyperparameters["margin_degrees"])
        return classify(hyperparameters["scale"] * widened_BC, batch.labels_B)

"""ArcFace (Deng et al. 2019): softmax on cosines, with a margin on the angle to the own proxy.

S_BC = cosines to proxies, B = batch, C = training classes.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import angular_margin, classify
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ArcFace(ProxyLoss):
    """Cross-entropy of scale * S, with a margin added to the angle to the own class.

    mean over samples of -log(exp(scale cos(angle_y + margin)) /
    (exp(scale cos(angle_y + margin)) + sum_{c != y} exp(scale S_c))), S_y = cos(angle_y).

    Source: Deng et al. 2019, equation 3; Psomas 2020, equation 2.29. Where angle_y + margin is
    beyond 180 degrees, its cosine is replaced by S_y - margin sin(margin), margin in radians, so
    that the loss keeps falling in S_y; the paper leaves this to its code. Where S_y is within 1e-7
    of 1 its own logit has no gradient.

    Every sample is active; with a single class the value is 0 with gradient 0.

    Args:
        margin_degrees: angle by which the own class has to win, in degrees.
        scale: factor of the cosines (1/cosine).
    """

    kind = "proxy"
    source = "Deng et al. 2019, ArcFace: Additive Angular Margin Loss, equation 3"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "margin_degrees": Parameter(
            28.6, Interval(0.0, 90.0), unit="degrees", source="thesis table 4 (paper: 0.5 rad)"
        ),
        "scale": Parameter(64.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        widened_BC = angular_margin(S_BC, batch.labels_B, hyperparameters["margin_degrees"])
        return classify(hyperparameters["scale"] * widened_BC, batch.labels_B)

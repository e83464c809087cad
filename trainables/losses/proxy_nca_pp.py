"""ProxyNCA++ (Teh et al. 2020): `proxy_nca` with the own class in the sum, and a scale of 9.

S_BC = cosines to proxies, B = batch, C = training classes.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import classify
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ProxyNCAPP(ProxyLoss):
    """mean over samples of -log(exp(-scale D2_y) / sum_c exp(-scale D2_c)).

    D2_c is the squared distance of the sample to proxy c, both normalised, so 2 - 2 S_c: this is
    `NormalizedSoftmax` at twice the scale. Unlike in `ProxyNCA` the sum holds the own class.

    Source: Teh et al. 2020, with scale = 1 / temperature and the temperature 1/9. Of
    the paper's further parts, pooling and sampling belong to the network and to the training.

    Every sample is active; with a single class the value is 0 with gradient 0.

    Args:
        scale: factor of the squared distances.
    """

    kind = "proxy"
    source = "Teh et al. 2020, ProxyNCA++: Revisiting and Revitalizing Proxy NCA"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "scale": Parameter(
            9.0,
            Interval(1e-3, 1e3),
            unit="1/squared distance",
            source="paper (a temperature of 1/9)",
        )
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        # The 2 of 2 - 2 S is in every logit and cancels.
        return classify(2.0 * hyperparameters["scale"] * S_BC, batch.labels_B)

"""Large-margin softmax (Liu et al. 2016): `softmax` with the angle to the own class multiplied.

B = batch, C = training classes.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import classify
from podium.trainables.losses._multiplied_angle import multiply_own_angle
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole


class LSoftmax(ProxyLoss):
    """Cross-entropy of |w_c| |x| S_c, with |w_y| |x| psi(angle_y) for the own class.

    psi = (-1)^k cos(m angle) - 2 k, k = floor(m angle / pi); softened:
    (softness S_y + psi) / (softness + 1).

    Source: Liu et al. 2016, equations 4 to 6: embeddings and proxies of any length, no bias. The
    paper starts with a large softness and lets it fall to a small one that it does not print. The
    default is that of `sphereface`, which is the same with proxies of length 1; at 0 a small
    network hardly trains.

    Every sample is active; with a single class the value is 0 with gradient 0.

    Args:
        multiplier: m, factor of the angle to the own class.
        softness: weight of the plain cosine (lambda in the paper); 0 is equation 4.
    """

    kind = "proxy"
    source = "Liu et al. 2016, Large-Margin Softmax Loss for Convolutional Neural Networks"
    needs = frozenset({"proxies"})
    declared = {
        "multiplier": Parameter(4, Whole(1, 10), source="paper"),
        "softness": Parameter(5.0, Interval(0.0, 1e4), source="own"),
    }
    invariances = frozenset({"permutation", "rotation"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        proxies_CD = parameters["proxies"]
        S_BC = proxy_cosines(batch.normalised_BD, proxies_CD)
        multiplier, softness = hyperparameters["multiplier"], hyperparameters["softness"]
        widened_BC = multiply_own_angle(S_BC, batch.labels_B, multiplier, softness)
        lengths_B1 = torch.linalg.vector_norm(batch.embeddings_BD, dim=1, keepdim=True)
        lengths_C = torch.linalg.vector_norm(proxies_CD, dim=1)
        return classify(lengths_B1 * lengths_C * widened_BC, batch.labels_B)

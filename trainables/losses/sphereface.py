"""SphereFace (Liu et al. 2017): softmax with the angle to the own, normalised proxy multiplied.

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


class SphereFace(ProxyLoss):
    """Cross-entropy of |x| S_c, with |x| psi(angle_y) for the own class (A-Softmax).

    psi = (-1)^k cos(m angle) - 2 k, k = floor(m angle / pi); softened:
    (softness S_y + psi) / (softness + 1).

    Source: Liu et al. 2017, equation 7: embeddings of any length, proxies of length 1, no
    bias. The paper trains with a softness that falls from 1000; 5 is where it ends in the authors'
    code. `l_softmax` is the same with the lengths of the proxies.

    Every sample is active; with a single class the value is 0 with gradient 0.

    Args:
        multiplier: m, factor of the angle to the own class.
        softness: weight of the plain cosine (lambda in the authors' code); 0 is equation 7.
    """

    kind = "proxy"
    source = "Liu et al. 2017, SphereFace: Deep Hypersphere Embedding, equation 7"
    needs = frozenset({"proxies"})
    declared = {
        "multiplier": Parameter(4, Whole(1, 10), source="paper"),
        "softness": Parameter(5.0, Interval(0.0, 1e4), source="authors' code"),
    }
    invariances = frozenset({"permutation", "rotation"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        multiplier, softness = hyperparameters["multiplier"], hyperparameters["softness"]
        widened_BC = multiply_own_angle(S_BC, batch.labels_B, multiplier, softness)
        lengths_B1 = torch.linalg.vector_norm(batch.embeddings_BD, dim=1, keepdim=True)
        return classify(lengths_B1 * widened_BC, batch.labels_B)

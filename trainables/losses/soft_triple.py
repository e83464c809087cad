"""SoftTriple (Qian et al. 2019): `cosface` over several centres per class, weighted softly.

S_BKC = cosines to centres, B = batch, C = training classes, D = embedding dimension, K = centres
of a class.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, softmax

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import add_to_own
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import CentresLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole

# The authors' guard of the root, where two centres coincide.
_SMALLEST_SQUARE = 1e-5


class SoftTriple(CentresLoss):
    """Softmax loss with a margin, over classes of several centres.

    S_c = sum_k q_ck S_ck, q_c = softmax over centres k of gamma S_ck;
    mean over samples of -log(exp(scale (S_y - margin)) /
    (exp(scale (S_y - margin)) + sum_{c != y} exp(scale S_c)))
    + tau / (C K (K - 1)) * sum over classes and pairs of their centres of |w_cj - w_ck|.

    Source: Qian et al. 2019; Duffner et al., Similarity Metric Learning, equations 23 to 25.
    Psomas 2020, equation 2.30, leaves out the several centres and the term that merges them; the
    default of the margin is his, 0.1 against 0.01 in the paper. Gamma is a factor, not its inverse
    as in the paper and in pytorch-metric-learning. Distances of centres are
    sqrt(2 + 1e-5 - 2 cosine), as in the authors' code.

    With one centre there are no q and no distances, so gamma and tau do not act, and the loss is
    `CosFace`. Every sample is active; with a single class only the merging of its centres is left.

    Args:
        centres: K, a whole number.
        scale: factor of the similarities (1/cosine; lambda in the paper).
        gamma: sharpness of the choice of a centre (1/cosine).
        margin: cosine by which the own class has to win (delta in the paper).
        tau: weight of the distances between centres of a class.
    """

    kind = "proxy"
    source = "Qian et al. 2019, SoftTriple Loss: Deep Metric Learning Without Triplet Sampling"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "centres": Parameter(10, Whole(1, 100), source="paper"),
        "scale": Parameter(20.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
        "gamma": Parameter(
            10.0, Interval(0.0, 1e3), unit="1/cosine", source="paper (its inverse, 0.1)"
        ),
        "margin": Parameter(
            0.1, Interval(0.0, 1.0), unit="cosine", source="thesis table 4 (paper: 0.01)"
        ),
        "tau": Parameter(0.2, Interval(0.0, 100.0), source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        proxies_KCD = parameters["proxies"]
        num_centres, num_classes = proxies_KCD.shape[:2]
        S_BP = proxy_cosines(batch.normalised_BD, proxies_KCD.flatten(0, 1))
        if num_centres == 1:
            S_BC = S_BP
        else:
            S_BKC = S_BP.view(-1, num_centres, num_classes)
            S_BC = (softmax(hyperparameters["gamma"] * S_BKC, dim=1) * S_BKC).sum(1)
        margin_B = torch.zeros_like(S_BC[:, 0]) + hyperparameters["margin"]
        widened_BC = add_to_own(S_BC, batch.labels_B, -margin_B)
        value = cross_entropy(hyperparameters["scale"] * widened_BC, batch.labels_B)
        if num_centres > 1:
            value = value + hyperparameters["tau"] * 0.5 * _mean_distance(proxies_KCD)
        is_active = num_classes > 1 or num_centres > 1
        return LossOutput(value, torch.full_like(value, float(is_active)))


def _mean_distance(proxies_KCD: Tensor) -> Tensor:
    """Mean distance of two centres of one class."""
    # A copy: of a view, a product in a stack of members would add in another order than alone.
    proxies_CKD = proxies_KCD.transpose(0, 1).contiguous()
    products_CKK = proxies_CKD @ proxies_CKD.mT
    reciprocals_CK = products_CKK.diagonal(dim1=1, dim2=2).clamp(min=1e-24).rsqrt()
    num_centres = proxies_KCD.shape[0]
    j, k = torch.triu_indices(num_centres, num_centres, offset=1, device=proxies_KCD.device)
    cosines = products_CKK[:, j, k] * reciprocals_CK[:, j] * reciprocals_CK[:, k]
    return (2.0 + _SMALLEST_SQUARE - 2.0 * cosines).sqrt().mean()

"""ProxyGML (Zhu et al. 2020): softmax over several proxies per class, only the nearest ones.

S_BNC = cosines to proxies, B = batch, C = training classes, D = embedding dimension, N = proxies
of a class, P = N C.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import CentresLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole


class ProxyGML(CentresLoss):
    """Softmax over the classes of the nearest proxies of each sample.

    Each sample keeps the N proxies of its class and of the others the nearest, together
    ceil(ratio C N) proxies; S_c = sum of S_cn over the kept proxies of class c;
    mean over samples of -log(exp(S_y) / sum over classes c with a kept proxy of exp(S_c))
    + regulariser * mean over all proxies w of class y of
    -log(exp(w . W_y) / sum_c exp(w . W_c)), W_c = sum of the N proxies of class c, w of length 1.

    Source: Zhu et al. 2020, defaults of the authors' code for CUB-200-2011; it takes one proxy and
    no regulariser for Stanford Online Products. Kept proxies are known by their index, where that
    code takes a similarity of 0 for a proxy that is not kept, and at least N are kept. The
    regulariser takes time and memory with N times the square of the classes; at 0 it is left out.

    A sample is active if it keeps a proxy of another class. With a regulariser every proxy counts
    as one more sample. With a single class the value is 0 with gradient 0.

    Args:
        subproxies: N, a whole number.
        ratio: part of all proxies that a sample keeps (r in the paper).
        regulariser: weight of the proxies' own classification (lambda in the paper).
    """

    kind = "proxy"
    source = "Zhu et al. 2020, Fewer is More"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "subproxies": Parameter(12, Whole(1, 100), source="authors' code, CUB"),
        "ratio": Parameter(0.05, Interval(1e-4, 1.0), source="authors' code, CUB"),
        "regulariser": Parameter(0.3, Interval(0.0, 100.0), source="authors' code, CUB"),
    }
    num_centres = "subproxies"
    is_vmappable = False  # the ratio settles how many proxies are kept

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        proxies_NCD, labels_B = parameters["proxies"], batch.labels_B
        shape_NC = proxies_NCD.shape[:2]
        S_BP = proxy_cosines(batch.normalised_BD, proxies_NCD.flatten(0, 1))
        S_BNC = S_BP.view(-1, *shape_NC)
        kept_BNC = _nearest(S_BNC.detach(), labels_B, hyperparameters["ratio"])
        is_kept_BC = kept_BNC.any(1)
        logits_BC = S_BNC.where(kept_BNC, 0.0).sum(1).masked_fill(~is_kept_BC, -torch.inf)
        value = cross_entropy(logits_BC, labels_B)
        is_active = is_kept_BC.sum(1) > 1
        if hyperparameters["regulariser"] > 0.0:
            value = value + hyperparameters["regulariser"] * _between_proxies(proxies_NCD)
            of_proxies = is_active.new_full((shape_NC.numel(),), shape_NC[1] > 1)
            is_active = torch.cat([is_active, of_proxies])
        return LossOutput(value, is_active.to(value.dtype).mean())


def _nearest(S_BNC: Tensor, labels_B: Tensor, ratio: float) -> Tensor:
    """Mask of the proxies each sample keeps: (B, N, C)."""
    num_of_class, num_classes = S_BNC.shape[1:]
    num_kept = max(num_of_class, math.ceil(ratio * (num_of_class * num_classes)))
    own_BC = labels_B[:, None] == torch.arange(num_classes, device=labels_B.device)
    above_all = 2.0  # cosines are at most 1
    ranked_BP = S_BNC.masked_fill(own_BC[:, None], above_all).flatten(1)
    nearest = ranked_BP.topk(num_kept, dim=1, sorted=False).indices
    kept_BP = torch.zeros_like(ranked_BP, dtype=torch.bool).scatter(1, nearest, True)
    return kept_BP.view(S_BNC.shape)


def _between_proxies(proxies_NCD: Tensor) -> Tensor:
    """Mean cross-entropy of classifying each proxy by all proxies."""
    proxies_NCD = normalize(proxies_NCD, dim=2)
    num_of_class, num_classes = proxies_NCD.shape[:2]
    logits_PC = proxies_NCD.flatten(0, 1) @ proxies_NCD.sum(0).T
    labels_P = torch.arange(num_classes, device=proxies_NCD.device).repeat(num_of_class)
    return cross_entropy(logits_PC, labels_P)

"""Mean-field class-wise multi-similarity loss (Furusawa 2024): soft hinges on classes, not pairs.

S_BC = cosines to proxies, the mean fields; B = batch, C = training classes, D = embedding.
"""

import torch
from torch.nn.functional import normalize, softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._classification import own_class
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class MeanFieldMultiSimilarity(ProxyLoss):
    """Multi-similarity between whole classes, with the partner of a pair replaced by a mean field.

    M_cv = mean over samples i of class c of exp(beta (S_iv - margin)), 0 for a class that is not
    in the batch; the loss is the mean over classes c of the batch of
    log(1 + mean over its samples i of exp(alpha (margin - S_ic))) / alpha
    + sum over pairs {c, v} of log(1 + M_cv + M_vc) / beta, divided by their number,
    + field_weight * mean over classes c of sum_{v != c} h_cv^power,
    h_cv = log(1 + exp(beta (S_cv - margin))) / beta of the cosine of two mean fields.

    Source: Furusawa 2024, as in the authors' code; the mean fields are proxies. The defaults of
    margin and weight are ours, since the code leaves them to a search. The ranges of alpha and
    beta keep every power within float32. Every sample is active; with a single class only the pull
    to its mean field is left.

    Args:
        alpha: sharpness of the pull to the own mean field.
        beta: sharpness of the push from others.
        margin: cosine at which either begins (1 - lambda in the paper).
        field_weight: weight of the hinges between mean fields.
        power: power of these hinges.
    """

    kind = "proxy"
    source = "Furusawa 2024, Mean Field Theory in Deep Metric Learning"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "alpha": Parameter(2.0, Interval(1e-3, 40.0), unit="1/cosine", source="multi_similarity"),
        "beta": Parameter(50.0, Interval(1e-3, 80.0), unit="1/cosine", source="multi_similarity"),
        "margin": Parameter(0.5, Interval(0.0, 1.0), unit="cosine", source="own"),
        "field_weight": Parameter(1.0, Interval(0.0, 1e3), source="own"),
        "power": Parameter(2.0, Interval(1.0, 4.0), source="own"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        alpha, beta = hyperparameters["alpha"], hyperparameters["beta"]
        proxies_CD, labels_B = parameters["proxies"], batch.labels_B
        above_BC = proxy_cosines(batch.normalised_BD, proxies_CD) - hyperparameters["margin"]
        # A class of the batch is summed over in the row of each of its samples, which share it.
        same_BB = (labels_B[:, None] == labels_B).to(above_BC.dtype)
        mean_BB = same_BB / same_BB.sum(1, keepdim=True)
        share_B = mean_BB.diagonal() / mean_BB.diagonal().sum()
        own_BC = labels_B[:, None] == torch.arange(len(proxies_CD), device=labels_B.device)
        pulls_B = (-alpha * own_class(above_BC, labels_B)).exp()
        pull = (share_B * (mean_BB @ pulls_B).log1p()).sum() / alpha
        pushes_BC = (beta * above_BC).exp()
        to_samples_CB = (own_BC.to(mean_BB.dtype) * mean_BB.diagonal()[:, None]).T
        there_and_back_BC = mean_BB @ pushes_BC + (to_samples_CB @ pushes_BC[:, labels_B]).T
        # A pair with both classes in the batch is met from either.
        weights_BC = (1.0 - 0.5 * own_BC.any(0).to(mean_BB.dtype)).masked_fill(own_BC, 0.0)
        push = (share_B[:, None] * weights_BC * there_and_back_BC.log1p()).sum() / beta
        S_CC = proxy_cosines(normalize(proxies_CD, dim=1), proxies_CD)
        hinges_CC = softplus(beta * (S_CC - hyperparameters["margin"])) / beta
        between_CC = (hinges_CC ** hyperparameters["power"]).tril(-1)
        between = 2.0 * between_CC.sum() / len(proxies_CD)
        value = pull + push + hyperparameters["field_weight"] * between
        return LossOutput(value, torch.ones_like(value))

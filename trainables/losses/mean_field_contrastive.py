"""Mean-field contrastive loss (Furusawa 2024): contrastive hinges between samples and classes.

S_BC = cosines to proxies, the mean fields; B = batch, C = training classes, D = embedding.
"""

import torch
from torch.nn.functional import normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class MeanFieldContrastive(ProxyLoss):
    """The contrastive loss with the partner of a pair replaced by its class's mean field.

    mean over samples of [d_iy - positive_margin]+ + sum_{c != y} [negative_margin - d_ic]+
    + field_weight * mean over classes c of sum_{v != c} [negative_margin - d_cv]+^power,
    d = 1 - cosine; i is a sample, c and v are mean fields.

    Source: Furusawa 2024, with the sums of the authors' code; the mean fields are proxies. The
    defaults are ours, since the code leaves them to a search.

    With a single class only the pull to its mean field is left.

    Args:
        positive_margin: distance within which a sample is left alone by its own mean field.
        negative_margin: distance beyond which other mean fields leave a sample, or each other.
        field_weight: weight of the hinges between mean fields (lambda in the paper).
        power: power of these hinges.
    """

    kind = "proxy"
    source = "Furusawa 2024, Mean Field Theory in Deep Metric Learning"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "positive_margin": Parameter(0.1, Interval(0.0, 2.0), unit="1 - cosine", source="own"),
        "negative_margin": Parameter(0.5, Interval(0.0, 2.0), unit="1 - cosine", source="own"),
        "field_weight": Parameter(1.0, Interval(0.0, 1e3), source="own"),
        "power": Parameter(2.0, Interval(1.0, 4.0), source="own"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. Active are open hinges, of samples and between mean fields."""
        proxies_CD = parameters["proxies"]
        margin = hyperparameters["negative_margin"]
        d_BC = 1.0 - proxy_cosines(batch.normalised_BD, proxies_CD)
        d_CC = 1.0 - proxy_cosines(normalize(proxies_CD, dim=1), proxies_CD)
        classes_C = torch.arange(len(proxies_CD), device=proxies_CD.device)
        own_BC = batch.labels_B[:, None] == classes_C
        itself_CC = classes_C[:, None] == classes_C
        pull_BC = (d_BC - hyperparameters["positive_margin"]).relu()
        hinges_BC = pull_BC.where(own_BC, (margin - d_BC).relu())
        hinges_CC = (margin - d_CC).relu().masked_fill(itself_CC, 0.0)
        between = (hinges_CC ** hyperparameters["power"]).sum(1).mean()
        value = hinges_BC.sum(1).mean() + hyperparameters["field_weight"] * between
        num_open = (hinges_BC > 0.0).sum() + (hinges_CC > 0.0).sum()
        return LossOutput(value, num_open / (own_BC.numel() + itself_CC.numel()))

"""First loss of Psomas 2020: `proxy_anchor` whose proxies push each other, not the samples.

S_ic = cosine of sample i to proxy c, B = batch, C = training classes, D = embedding dimension.
"""

import torch
from torch.nn.functional import normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._class_pairs import push_classes
from podium.trainables.losses._proxies import pull_to_proxies
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ThesisLoss1(ProxyLoss):
    """Each proxy pulls its class, as in `ProxyAnchor`, and pushes the other proxies.

    mean over classes c in the batch of log(1 + sum_{i in c} exp(-alpha (S_ic - margin)))
    + mean over all classes c of log(1 + sum_{v != c} exp(alpha (w_c . w_v + margin))),
    w = proxies of length 1.

    Source: Psomas 2020, equation 6.1; it prints no values, the defaults are those of
    `ProxyAnchor`. No sample is pushed: negatives of the batch have no part in it. The cosines
    between proxies take time and memory with the square of the classes: about 1.6 GB for 11 318.

    Every sample is active. With a single class the second term is 0 with gradient 0.

    Args:
        alpha: sharpness.
        margin: cosine added to both sides (delta in the thesis).
    """

    kind = "proxy"
    source = "Psomas 2020, Metric Learning: A Deep Dive, equation 6.1"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "alpha": Parameter(
            32.0, Interval(1e-3, 1e3), unit="1/cosine", source="own: proxy_anchor's"
        ),
        "margin": Parameter(0.1, Interval(0.0, 1.0), unit="cosine", source="own: proxy_anchor's"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        alpha, margin = hyperparameters["alpha"], hyperparameters["margin"]
        proxies_CD = normalize(parameters["proxies"], dim=1)
        own_B = (batch.normalised_BD * proxies_CD[batch.labels_B]).sum(1)
        positive = pull_to_proxies(own_B, batch.labels_B, alpha, margin)
        negative = push_classes(proxies_CD @ proxies_CD.T, alpha, margin)
        return LossOutput(positive + negative, torch.ones_like(positive))

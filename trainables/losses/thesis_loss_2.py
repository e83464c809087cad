"""Second loss of Psomas 2020: `thesis_loss_1` with proxies compared by how the batch sees them.

S_BC = cosines to proxies, B = batch, C = training classes.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._class_pairs import push_classes
from podium.trainables.losses._classification import own_class
from podium.trainables.losses._proxies import proxy_cosines, pull_to_proxies
from podium.trainables.losses._proxy_loss import ProxyLoss
from podium.trainables.settings.legal_ranges import Flag, Interval, Parameter


class ThesisLoss2(ProxyLoss):
    """As `ThesisLoss1`, but proxies push each other by how alike the batch sees them.

    mean over classes c in the batch of log(1 + sum_{i in c} exp(-alpha (S_ic - margin)))
    + mean over all classes c of log(1 + sum_{v != c} exp(alpha (G_cv + margin))),
    G_cv = sum over samples i of S_ic S_iv.

    Source: Psomas 2020, equation 6.2; it prints no values, the defaults are those of
    `ProxyAnchor`. G is not divided by the batch there, so that alpha means something else for each
    batch size; ``mean_over_batch`` divides it. The thesis's code takes the exponentials as they
    stand and overflows in float32 where embeddings are alike, as those of a pretrained network
    are; here they cannot. G takes time and memory with the square of the
    classes: about 1.6 GB for 11 318.

    Every sample is active. With a single class the second term is 0 with gradient 0.

    Args:
        alpha: sharpness.
        margin: cosine added to both sides (delta in the thesis).
        mean_over_batch: whether G is a mean over the samples, from -1 to 1, not a sum.
    """

    kind = "proxy"
    source = "Psomas 2020, Metric Learning: A Deep Dive, equation 6.2"
    needs = frozenset({"normalised", "proxies"})
    declared = {
        "alpha": Parameter(
            32.0, Interval(1e-3, 1e3), unit="1/cosine", source="own: proxy_anchor's"
        ),
        "margin": Parameter(0.1, Interval(0.0, 1.0), unit="cosine", source="own: proxy_anchor's"),
        "mean_over_batch": Parameter(False, Flag(), source="thesis equation 6.2"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        alpha, margin = hyperparameters["alpha"], hyperparameters["margin"]
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        positive = pull_to_proxies(own_class(S_BC, batch.labels_B), batch.labels_B, alpha, margin)
        divisor = len(S_BC) if hyperparameters["mean_over_batch"] else 1
        negative = push_classes(S_BC.T @ (S_BC / divisor), alpha, margin)
        return LossOutput(positive + negative, torch.ones_like(positive))

"""Log-ratio loss (Kim et al. 2019): ratios of distances follow those of continuous labels.

P = partners of the anchor: all of the batch but row 0.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._anchored import anchored
from podium.trainables.losses._pairs import distances
from podium.trainables.settings.legal_ranges import Flag, Parameter

_EPS = 1e-6


class LogRatio(Loss):
    """Ratios of embedding distances follow ratios of label distances.

    With the anchor a = row 0 of the batch, mean over pairs i < j of the other rows of

        (log(f_ai / f_aj) - log(y_ai / y_aj))^2

    where y is the distance of the labels, f the distance of the embeddings as the network gives
    them, of any length, and each argument of a logarithm is increased by 1e-6.

    Source: Kim et al. 2019, equation 2. There both are squared Euclidean distances. ``squared``
    squares f; y is what the data set gives: of label vectors, such as poses, a square with its
    option ``label_metric: squared_euclidean``. The authors' code squares neither, which is a
    quarter of the paper's loss. With f squared and y not, embeddings learn the square roots of
    label distances.

    With u = log f - log y the mean over pairs is twice the sample variance of u, so the cost grows
    with the batch and not with its pairs. Fewer than two partners give 0 with gradient 0; else
    every pair is active. A partner that coincides with the anchor has gradient 0.

    Args:
        squared: whether f is the squared Euclidean distance; y does not change with it.
    """

    kind = "continuous"
    source = "Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, equation 2"
    needs = frozenset({"label_distances"})
    declared = {"squared": Parameter(True, Flag(), source="paper")}
    invariances = frozenset({"rotation"})  # the anchor is known by its position

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        squared_P, label_distances_P = anchored(batch, batch.embeddings_BD)
        f_P = squared_P if hyperparameters["squared"] else distances(squared_P)
        u_P = (f_P + _EPS).log() - (label_distances_P + _EPS).log()
        num_partners = len(u_P)
        deviations_P = u_P - u_P.sum() / max(num_partners, 1)
        value = 2.0 * deviations_P.square().sum() / max(num_partners - 1, 1)
        return LossOutput(value, torch.full_like(value, num_partners > 1))

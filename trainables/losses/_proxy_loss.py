"""What losses with proxies have in common. C = classes, D = embedding, K = centres of a class."""

from typing import ClassVar

import torch
from torch import Tensor

from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.losses._proxies import kaiming_centres, kaiming_proxies


class ProxyLoss(Loss):
    """A loss on the cosines of a batch to trained ``proxies`` of shape (C, D)."""

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """See `Loss.make_parameters`: ``proxies``, one for each class."""
        return {"proxies": kaiming_proxies(num_classes, embedding_dim, generator)}


class CentresLoss(Loss):
    """A loss on the cosines of a batch to several trained ``proxies`` of each class: (K, C, D).

    Attributes:
        num_centres: name of the hyperparameter that is K.
    """

    num_centres: ClassVar[str] = "centres"

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """See `Loss.make_parameters`: ``proxies``, K for each class."""
        num_centres = self.hyperparameters[self.num_centres]
        return {"proxies": kaiming_centres(num_classes, num_centres, embedding_dim, generator)}

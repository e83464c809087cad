"""What losses with one proxy for each class have in common. C = classes, D = embedding."""

import torch
from torch import Tensor

from trainables.loss_composition.loss_base import Loss
from trainables.losses._proxies import kaiming_proxies

__all__ = ["ProxyLoss"]


class ProxyLoss(Loss):
    """A loss on the cosines of a batch to trained ``proxies`` of shape (C, D)."""

    invariances = frozenset({"permutation", "rotation", "scale"})
    is_vmappable = True

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """See `Loss.make_parameters`: ``proxies``, one for each class."""
        return {"proxies": kaiming_proxies(num_classes, embedding_dim, generator)}

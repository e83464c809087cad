"""Learned class representatives. C = training classes, D = embedding dimension."""

import math

import torch
from torch import Tensor

__all__ = ["kaiming_proxies"]


def kaiming_proxies(num_classes: int, embedding_dim: int, generator: torch.Generator) -> Tensor:
    """Fresh proxies, normal with variance 2 / num_classes: shape (C, D).

    This is Kaiming's normal initialisation by fan-out, as in the authors' code of the proxy
    losses. Losses normalise their proxies, so the length does not enter the value; it sets how far
    a step of the proxy learning rate turns a proxy: by about rate * sqrt(D) / length, where length
    is sqrt(2 D / C).
    """
    shape = (num_classes, embedding_dim)
    noise_CD = torch.randn(shape, generator=generator, device=generator.device)
    return noise_CD * math.sqrt(2.0 / num_classes)

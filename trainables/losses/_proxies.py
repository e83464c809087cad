"""Learned class representatives.

B = batch, C = training classes, D = embedding dimension, K = centres of a class, P = proxies.
"""

import math

import torch
from torch import Tensor

from podium.trainables.losses._pairs import log1p_sum_exp


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


def kaiming_centres(
    num_classes: int, num_centres: int, embedding_dim: int, generator: torch.Generator
) -> Tensor:
    """Several proxies for each class, as long as those of `kaiming_proxies`: shape (K, C, D)."""
    stacked = kaiming_proxies(num_classes, num_centres * embedding_dim, generator)
    stacked_CKD = stacked.view(num_classes, num_centres, embedding_dim)
    return stacked_CKD.transpose(0, 1).contiguous()


def proxy_cosines(normalised_BD: Tensor, proxies_PD: Tensor) -> Tensor:
    """The cosine of every sample to every proxy, these of any length: shape (B, P)."""
    # To divide products by lengths costs passes over (B, P); to normalise the proxies first costs
    # passes over (P, D), which is larger wherever the batch has fewer samples than dimensions.
    lengths_P: Tensor = torch.linalg.vector_norm(proxies_PD, dim=1).clamp(min=1e-12)
    return (normalised_BD @ proxies_PD.T) * lengths_P.reciprocal()


def pull_to_proxies(
    own_B: Tensor, labels_B: Tensor, alpha: float | Tensor, margin: float | Tensor
) -> Tensor:
    """Mean over classes c of the batch of log(1 + sum_{i in c} exp(-alpha (S_ic - margin))).

    Args:
        own_B: cosine of each sample to the proxy of its class.
        labels_B: the classes.
        alpha: sharpness.
        margin: cosine every sample should reach.
    """
    # Only classes of the batch have positives, so this is (B, B), not (B, C): the class of sample
    # i is summed over in row i, and counted once by weighing its rows.
    same_BB = labels_B[:, None] == labels_B
    exponents_BB = (-alpha * (own_B - margin)).expand_as(same_BB)
    share_B = 1.0 / same_BB.sum(1, dtype=own_B.dtype)
    return (share_B * log1p_sum_exp(exponents_BB, same_BB, dim=1)).sum() / share_B.sum()

"""Deng et al. 2019, equation 3, sample by sample; beyond pi as in the authors' code."""

import math

import torch

from tests.trainables.losses.slow_pairs import cosine, cross_entropy


def oracle(batch, parameters, *, margin_degrees, scale):
    proxies = parameters["proxies"]

    def logit(x, c, is_own):
        found = cosine(x, proxies[c])
        return scale * (with_margin(found, margin_degrees) if is_own else found)

    return cross_entropy(batch, len(proxies), logit)


def with_margin(cosine, margin_degrees):
    margin = margin_degrees / 180.0 * math.pi
    if torch.acos(cosine) <= math.pi - margin:
        return torch.cos(torch.acos(cosine) + margin)
    return cosine - margin * math.sin(margin)

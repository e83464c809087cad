"""Liu et al. 2017, equation 7, sample by sample, with the library's arc cosine."""

import math

import torch

from tests.trainables.losses.slow_pairs import cosine, cross_entropy


def psi(s, multiplier):
    angle = torch.acos(s)
    k = math.floor(angle.item() * multiplier / math.pi)
    return (-1) ** k * torch.cos(multiplier * angle) - 2 * k


def oracle(batch, parameters, *, multiplier, softness):
    proxies = parameters["proxies"]

    def logit(x, c, is_own):
        s = cosine(x, proxies[c])
        own = (softness * s + psi(s, multiplier)) / (softness + 1.0)
        return x.norm() * (own if is_own else s)

    return cross_entropy(batch, len(proxies), logit)

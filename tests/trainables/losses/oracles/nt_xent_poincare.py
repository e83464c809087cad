"""Ermolov et al. 2022 pair by pair, by Moebius addition as in the authors' code (hyp_metric)."""

import math

import torch

from tests.trainables.losses.oracles.nt_xent_euclidean import cross_entropy

C, CLIP = 0.1, 2.3


def exponential_map(x):
    length = x.square().sum().sqrt()
    cut = x * torch.clamp(CLIP / length, max=1.0)
    scaled = math.sqrt(C) * cut.square().sum().sqrt()
    return torch.tanh(scaled) * cut / scaled


def distance(x, y):
    p, q = -exponential_map(x), exponential_map(y)
    if C * (p + q).square().sum() < 1e-12:  # counts as that far apart
        return 2 / math.sqrt(C) * torch.asinh(1e-6 / (1 - C * p.square().sum()))
    dot, p2, q2 = (p * q).sum(), p.square().sum(), q.square().sum()
    added = (1 + 2 * C * dot + C * q2) * p + (1 - C * p2) * q
    added = added / (1 + 2 * C * dot + C**2 * p2 * q2)
    return 2 / math.sqrt(C) * torch.atanh(math.sqrt(C) * added.square().sum().sqrt())


def oracle(batch, parameters, *, temperature):
    return cross_entropy(batch, lambda x, y: -distance(x, y) / temperature)

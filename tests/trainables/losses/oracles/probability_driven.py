"""Nair and Hinton 2010: cross-entropy of the sigmoid, pair by pair, a mean for each side."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_all, sum_of_means


def oracle(batch, parameters, *, initial_scale, initial_offset):
    def odds(x, y):
        return torch.exp(parameters["scale"] * cosine(x, y) + parameters["offset"])

    positives, negatives = of_all(batch, odds)
    far = [-torch.log(o / (1.0 + o)) for o in positives]
    return sum_of_means(batch, far, [-torch.log(1.0 / (1.0 + o)) for o in negatives])

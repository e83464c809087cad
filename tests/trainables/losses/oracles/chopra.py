"""Chopra et al. 2005, pair by pair, with a mean for each side."""

import torch

from tests.trainables.losses.slow_pairs import of_all, sum_of_means, unit_vectors


def oracle(batch, parameters, *, distance, decay):
    largest = 2.0 * batch.embeddings_BD.shape[1] ** 0.5 if distance == "l1" else 2.0

    def energy(a, b):
        if distance == "l1":
            return (a - b).abs().sum()
        return (a - b).square().sum().clamp(min=1e-12).sqrt()

    genuine, impostors = of_all(batch, energy, unit_vectors(batch))
    pull = [2.0 / largest * e**2 for e in genuine]
    push = [2.0 * largest * torch.exp(-decay / largest * e) for e in impostors]
    return sum_of_means(batch, pull, push)

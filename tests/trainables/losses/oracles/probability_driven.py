"""Nair and Hinton 2010: cross-entropy of the sigmoid, pair by pair, a mean for each side."""

import torch


def oracle(batch, parameters, *, initial_scale, initial_offset):
    positives, negatives = [], []
    for i, x in enumerate(batch.embeddings_BD):
        for j, y in enumerate(batch.embeddings_BD):
            if i == j:
                continue
            similarity = torch.dot(x, y) / (x.norm() * y.norm())
            odds = torch.exp(parameters["scale"] * similarity + parameters["offset"])
            if batch.labels_B[i] == batch.labels_B[j]:
                positives.append(-torch.log(odds / (1.0 + odds)))
            else:
                negatives.append(-torch.log(1.0 / (1.0 + odds)))
    zero = batch.embeddings_BD.sum() * 0.0
    return sum(positives, zero) / max(1, len(positives)) + sum(negatives, zero) / max(
        1, len(negatives)
    )

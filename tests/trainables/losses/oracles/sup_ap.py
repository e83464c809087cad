"""Ramzi et al. 2021: average precision itself, then 1 minus it, positive by positive."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, temperature, slope, offset, delta):
    def bound(t):
        if t.item() < 1e-6:
            return torch.sigmoid(t / temperature)
        if t.item() <= delta:
            return torch.sigmoid(t / temperature) + 0.5
        return slope * (t - delta) + offset

    precisions = []
    for positives, negatives in of_anchors(batch, cosine):
        terms = []
        for at, s in enumerate(positives):
            others = [*positives[:at], *positives[at + 1 :]]
            rank = 1.0 + sum(1.0 for other in others if other.item() > s.item() - 1e-6)
            before = sum((bound(negative - s) for negative in negatives), s * 0.0)
            terms.append(rank / (rank + before))
        if terms:
            precisions.append(sum(terms) / len(terms))
    zero = batch.embeddings_BD.sum() * 0.0
    return zero + 1.0 - sum(precisions) / len(precisions) if precisions else zero

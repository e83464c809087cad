"""Sun et al. 2020, equation 6, anchor by anchor, every positive against every negative."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, gamma, margin):
    total = batch.embeddings_BD.sum() * 0.0
    for positives, negatives in of_anchors(batch, cosine):
        pulls = [
            -gamma * max(0.0, 1.0 + margin - s.item()) * (s - (1.0 - margin)) for s in positives
        ]
        pushes = [gamma * max(0.0, s.item() + margin) * (s - margin) for s in negatives]
        exponents = [pull + push for pull in pulls for push in pushes]
        if exponents:
            # The exponents reach 1000, so the 1 is one of the exponentials.
            total = total + torch.logsumexp(torch.stack([0.0 * total, *exponents]), 0)
    return total / len(batch.labels_B)

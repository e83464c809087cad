"""Patel et al. 2022, query by query, positive by positive."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, temperature, rank_temperature):
    missed = []
    for positives, negatives in of_anchors(batch, cosine):
        if not positives or not negatives:
            continue
        ranks = []
        for at, s in enumerate(positives):
            others = [*positives[:at], *positives[at + 1 :], *negatives]
            ranks.append(1.0 + sum(torch.sigmoid((other - s) / temperature) for other in others))
        for k in (1, 2, 4, 8, 16):
            found = sum(torch.sigmoid((k - rank) / rank_temperature) for rank in ranks)
            if found > k:
                found = found * 0.0 + k
            missed.append(1.0 - found / min(k, len(positives)))
    return sum(missed, batch.embeddings_BD.sum() * 0.0) / max(1, len(missed))

"""Khosla et al. 2020, equation 2, positive by positive."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, temperature):
    total = batch.embeddings_BD.sum() * 0.0
    for positives, negatives in of_anchors(batch, cosine):
        if positives and negatives:
            powers = [torch.exp(s / temperature) for s in (*positives, *negatives)]
            logs = [torch.log(power / sum(powers)) for power in powers[: len(positives)]]
            total = total - sum(logs) / len(positives)
    return total / len(batch.labels_B)

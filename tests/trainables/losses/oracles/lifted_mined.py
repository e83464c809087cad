"""The thesis code's lifted loss, anchor by anchor, skipping anchors it would fail on."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, alpha, beta, epsilon):
    total = batch.embeddings_BD.sum() * 0.0
    for positives, negatives in of_anchors(batch, cosine):
        if not positives or not negatives:
            continue
        least, most = min(positives), max(negatives)
        hard_positives = [torch.exp(-beta * s) for s in positives if s - epsilon < most]
        hard_negatives = [torch.exp(alpha * s) for s in negatives if s + epsilon > least]
        if hard_positives and hard_negatives:
            total = total + 2.0 / beta * torch.log(sum(hard_positives))
            total = total + 2.0 / alpha * torch.log(sum(hard_negatives))
    return total / len(batch.labels_B)

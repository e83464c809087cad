"""Nguyen and Bai 2010, over the number of positives: sums, weighed by a ratio."""

import torch


def oracle(batch, parameters, *, negative_weight):
    positives, negatives = [], []
    for i, x in enumerate(batch.embeddings_BD):
        for j, y in enumerate(batch.embeddings_BD):
            if i != j:
                similarity = torch.dot(x, y) / (x.norm() * y.norm())
                is_positive = batch.labels_B[i] == batch.labels_B[j]
                (positives if is_positive else negatives).append(similarity)
    zero = batch.embeddings_BD.sum() * 0.0
    if not positives:
        return negative_weight * sum(negatives, zero) / max(1, len(negatives))
    alpha = negative_weight * len(positives) / max(1, len(negatives))
    return -(sum(positives, zero) - alpha * sum(negatives, zero)) / len(positives)

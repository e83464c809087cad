"""The thesis code's lifted loss, anchor by anchor, skipping anchors it would fail on."""

import torch


def oracle(batch, parameters, *, alpha, beta, epsilon):
    total = batch.embeddings_BD.sum() * 0.0
    for i, x in enumerate(batch.embeddings_BD):
        positives, negatives = [], []
        for j, y in enumerate(batch.embeddings_BD):
            similarity = torch.dot(x, y) / (x.norm() * y.norm())
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(similarity)
            elif i != j:
                positives.append(similarity)
        if not positives or not negatives:
            continue
        least, most = min(positives), max(negatives)
        hard_positives = [torch.exp(-beta * s) for s in positives if s - epsilon < most]
        hard_negatives = [torch.exp(alpha * s) for s in negatives if s + epsilon > least]
        if hard_positives and hard_negatives:
            total = total + 2.0 / beta * torch.log(sum(hard_positives))
            total = total + 2.0 / alpha * torch.log(sum(hard_negatives))
    return total / len(batch.labels_B)

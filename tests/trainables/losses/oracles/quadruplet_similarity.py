"""Yih et al. 2011, for all pairs of pairs."""

import torch


def oracle(batch, parameters, *, gamma):
    positives, negatives = [], []
    rows = list(zip(batch.embeddings_BD, batch.labels_B, strict=True))
    for i, (x, label) in enumerate(rows):
        for y, other in rows[i + 1 :]:
            similarity = torch.dot(x, y) / (x.norm() * y.norm())
            (positives if label == other else negatives).append(similarity)
    total = batch.embeddings_BD.sum() * 0.0
    if not negatives:
        return total
    negatives = torch.stack(negatives)
    for similarity in positives:
        total = total + torch.log(1.0 + torch.exp(-gamma * (similarity - negatives))).sum()
    return total / max(1, len(positives) * len(negatives))

"""Brown et al. 2020: ranks of every positive, comparison by comparison."""

import torch


def oracle(batch, parameters, *, temperature):
    points = [x / x.norm() for x in batch.embeddings_BD]
    losses = []
    for i, x in enumerate(points):
        similarities = [torch.dot(x, y) for y in points]
        others = [j for j in range(len(points)) if j != i]
        positives = [j for j in others if batch.labels_B[i] == batch.labels_B[j]]
        if not positives:
            continue
        precisions = []
        for j in positives:
            before = {
                k: torch.sigmoid((similarities[k] - similarities[j]) / temperature)
                for k in others
                if k != j
            }
            rank_among_positives = 1.0 + sum(before[k] for k in positives if k != j)
            precisions.append(rank_among_positives / (1.0 + sum(before.values())))
        losses.append(1.0 - sum(precisions) / len(precisions))
    return sum(losses, batch.embeddings_BD.sum() * 0.0) / max(1, len(losses))

"""Yu and Tao 2019, pair by pair."""

import torch


def oracle(batch, parameters, *, positive_slack, negative_slack):
    unit = [x / x.square().sum().sqrt() for x in batch.embeddings_BD]
    positives, negatives = [], []
    for i, x in enumerate(unit):
        for j, y in enumerate(unit):
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(torch.dot(x, y))
            elif i != j:
                positives.append(torch.dot(x, y))
    value = batch.embeddings_BD.sum() * 0.0
    if positives:
        least = (1.0 - positive_slack) * sum(positives) / len(positives)
        value = value + sum((least - s) ** 2 for s in positives if s < least) / len(positives)
    if negatives:
        most = (1.0 + negative_slack) * sum(negatives) / len(negatives)
        value = value + sum((s - most) ** 2 for s in negatives if s > most) / len(negatives)
    return value

"""Yi et al. 2014, equation 6, pair by pair."""

import torch


def oracle(batch, parameters, *, alpha, margin, negative_weight):
    positives, negatives = [], []
    for i, x in enumerate(batch.embeddings_BD):
        for j, y in enumerate(batch.embeddings_BD):
            above = torch.dot(x, y) / (x.norm() * y.norm()) - margin
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(torch.log(1 + torch.exp(alpha * negative_weight * above)))
            elif i != j:
                positives.append(torch.log(1 + torch.exp(-alpha * above)))
    zero = batch.embeddings_BD.sum() * 0.0
    return sum(positives, zero) / max(1, len(positives)) + sum(negatives, zero) / max(
        1, len(negatives)
    )

"""Psomas 2020, equation 2.21, anchor by anchor, with the mean for the sum over anchors."""

import torch


def oracle(batch, parameters, *, margin):
    total = batch.embeddings_BD.sum() * 0.0
    for i, x in enumerate(batch.embeddings_BD):
        positives, negatives = [], []
        for k, y in enumerate(batch.embeddings_BD):
            similarity = torch.dot(x, y) / (x.norm() * y.norm())
            if batch.labels_B[i] != batch.labels_B[k]:
                negatives.append(torch.exp(similarity))
            elif i != k:
                positives.append(torch.exp(margin - similarity))
        if positives and negatives:
            total = total + torch.relu(torch.log(sum(positives)) + torch.log(sum(negatives)))
    return total / len(batch.labels_B)

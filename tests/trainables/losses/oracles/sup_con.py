"""Khosla et al. 2020, equation 2, positive by positive."""

import torch


def oracle(batch, parameters, *, temperature):
    total = batch.embeddings_BD.sum() * 0.0
    for i, x in enumerate(batch.embeddings_BD):
        positives, negatives = [], []
        for j, y in enumerate(batch.embeddings_BD):
            power = torch.exp(torch.dot(x, y) / (x.norm() * y.norm()) / temperature)
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(power)
            elif i != j:
                positives.append(power)
        if positives and negatives:
            everything = sum(positives) + sum(negatives)
            logs = [torch.log(power / everything) for power in positives]
            total = total - sum(logs) / len(positives)
    return total / len(batch.labels_B)

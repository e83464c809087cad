"""Mohan et al. 2020 on Wang et al. 2019, with the vectors of each direction at hand."""

import torch


def direction(anchor, negative, positive, form):
    away, along = negative - anchor, positive - anchor
    lengths = away.square().sum().sqrt(), along.square().sum().sqrt()
    product = 1.0 - torch.dot(anchor, positive) if form == "printed" else torch.dot(away, along)
    return 0.0 if min(lengths) < 1e-3 else product / (lengths[0] * lengths[1])


def oracle(batch, parameters, *, alpha, beta, margin, epsilon, gamma, form):
    unit = [x / x.square().sum().sqrt() for x in batch.embeddings_BD]
    total = batch.embeddings_BD.sum() * 0.0
    for i, x in enumerate(unit):
        negatives = [
            y for y, c in zip(unit, batch.labels_B, strict=True) if c != batch.labels_B[i]
        ]
        positives = [
            y for j, y in enumerate(unit) if i != j and batch.labels_B[j] == batch.labels_B[i]
        ]
        if not positives or not negatives:
            continue
        hardest = min(positives, key=lambda y, x=x: torch.dot(x, y))
        most = max(torch.dot(x, y) for y in negatives)
        pulls, pushes = [], []
        for y in positives:
            if torch.dot(x, y) - epsilon < most:
                pulls.append(torch.exp(-alpha * (torch.dot(x, y) - margin)))
        for y in negatives:
            if torch.dot(x, y) + epsilon > torch.dot(x, hardest):
                lowered = torch.dot(x, y) - margin - gamma * direction(x, y, hardest, form)
                pushes.append(torch.exp(beta * lowered))
        for sharpness, exponentials in ((alpha, pulls), (beta, pushes)):
            total = total + torch.log(1.0 + sum(exponentials, 0.0 * total)) / sharpness
    return total / len(batch.labels_B)

"""Sun et al. 2020, equation 6, anchor by anchor, every positive against every negative."""

import torch


def oracle(batch, parameters, *, gamma, margin):
    total = batch.embeddings_BD.sum() * 0.0
    for i, x in enumerate(batch.embeddings_BD):
        pulls, pushes = [], []
        for j, y in enumerate(batch.embeddings_BD):
            similarity = torch.dot(x, y) / (x.norm() * y.norm())
            if batch.labels_B[i] != batch.labels_B[j]:
                weight = max(0.0, similarity.item() + margin)
                pushes.append(gamma * weight * (similarity - margin))
            elif i != j:
                weight = max(0.0, 1.0 + margin - similarity.item())
                pulls.append(-gamma * weight * (similarity - (1.0 - margin)))
        exponents = [pull + push for pull in pulls for push in pushes]
        if exponents:
            # The exponents reach 1000, so the 1 is one of the exponentials.
            total = total + torch.logsumexp(torch.stack([0.0 * total, *exponents]), 0)
    return total / len(batch.labels_B)

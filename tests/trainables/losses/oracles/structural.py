"""Yang et al. as in Duffner et al. 2021, pair by pair."""

import torch


def oracle(
    batch,
    parameters,
    *,
    margin,
    temperature,
    variance_weight,
    positive_variance,
    negative_variance,
):
    labels = batch.labels_B.tolist()
    n = len(labels)
    z = [x / x.norm() for x in batch.embeddings_BD]
    squared = {(i, j): (z[i] - z[j]).square().sum() for i in range(n) for j in range(n) if i != j}
    positives = [pair for pair in squared if labels[pair[0]] == labels[pair[1]]]
    negatives = [pair for pair in squared if labels[pair[0]] != labels[pair[1]]]
    zero = batch.embeddings_BD.sum() * 0.0
    if not positives or not negatives:
        return zero

    total, total_weight = zero, 0.0
    for i, j in positives:
        of_class = torch.stack([squared[p] for p in positives if labels[p[0]] == labels[i]])
        tau = 2.0 * of_class.mean() - of_class.min()
        weight = torch.exp(squared[i, j] - tau).detach()
        gaps = [squared[i, j] - squared[i, k] for k in range(n) if labels[k] != labels[i]]
        powers = sum(torch.exp((gap + margin) / temperature) for gap in gaps)
        total = total + weight * torch.log(1.0 + powers)
        total_weight = total_weight + weight
    scatter = zero
    for pairs, free in ((positives, positive_variance), (negatives, negative_variance)):
        variance = torch.stack([squared[p] for p in pairs]).var(correction=0)
        scatter = scatter + torch.clamp(variance - free, min=0.0)
    return total / total_weight + 0.5 * variance_weight * scatter

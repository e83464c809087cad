"""Li et al. 2022, positive by positive."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, temperature, variant, alpha, b):
    cost = {
        "O": lambda r: r,
        "Ds": lambda r: torch.log(1.0 + r),
        "Dq": lambda r: 1.0 - 1.0 / torch.pow(1.0 + r, alpha),
        "Iu": lambda r: (1.0 + r) * torch.log(1.0 + r),
        "Ib": lambda r: 1.0 / b**2 * (b * r - torch.log(1.0 + b * r)),
    }[variant]
    means = []
    for positives, negatives in of_anchors(batch, cosine):
        if not positives or not negatives:
            continue
        costs = [
            cost(sum(torch.sigmoid((other - s) / temperature) for other in negatives))
            for s in positives
        ]
        means.append(sum(costs) / len(costs))
    return sum(means, batch.embeddings_BD.sum() * 0.0) / max(1, len(means))

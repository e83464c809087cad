"""Yu and Tao 2019, with the angle of each pair at hand."""

import math

import torch


def oracle(batch, parameters, *, margin_degrees, scale):
    z = [x / x.square().sum().sqrt() for x in batch.embeddings_BD]
    labels = batch.labels_B.tolist()
    terms = []
    for a, p in ((a, p) for a in range(len(z)) for p in range(len(z)) if a != p):
        negatives = [torch.dot(z[a], z[n]) for n in range(len(z)) if labels[n] != labels[a]]
        if labels[a] == labels[p] and negatives:
            # Equal embeddings have no angle to move along.
            angle = torch.acos(torch.dot(z[a], z[p]).clamp(max=1.0 - 1e-7))
            relieved = torch.cos(angle - math.radians(margin_degrees))
            exponents = [0.0 * relieved, *(scale * (n - relieved) for n in negatives)]
            terms.append(torch.logsumexp(torch.stack(exponents), 0))
    return sum(terms) / len(terms) if terms else batch.embeddings_BD.sum() * 0.0

"""Wang et al. 2017, with the vectors of each triangle at hand."""

import math

import torch


def oracle(batch, parameters, *, angle_degrees, form):
    z = list(batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True))
    labels = batch.labels_B.tolist()
    t = math.tan(math.radians(angle_degrees)) ** 2
    costs = []
    for a, p in ((a, p) for a in range(len(z)) for p in range(len(z)) if a != p):
        negatives = [z[n] for n in range(len(z)) if labels[n] != labels[a]]
        if labels[a] != labels[p] or not negatives:
            continue
        if form == "smooth":
            both, product = z[a] + z[p], torch.dot(z[a], z[p])
            powers = [torch.exp(4 * t * (both @ n) - 2 * (1 + t) * product) for n in negatives]
            costs.append(torch.log(1.0 + sum(powers)))
        else:
            centre, square = (z[a] + z[p]) / 2.0, (z[a] - z[p]).square().sum()
            hinges = [square - 4 * t * (n - centre).square().sum() for n in negatives]
            costs += [hinge for hinge in hinges if hinge > 0.0]
    return sum(costs) / len(costs) if costs else batch.embeddings_BD.sum() * 0.0

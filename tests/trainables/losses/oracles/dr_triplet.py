"""Mohan et al. 2020 on the triplet loss, with the vectors of each direction at hand."""

import torch

from tests.trainables.miners.slow_miners import mined


def oracle(batch, parameters, *, margin, gamma, miner, form):
    z = list(batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True))
    ways = [[y - x for y in z] for x in z]
    squares = [[way.square().sum() for way in row] for row in ways]
    costs = []
    for a, p, n in mined(batch, miner, margin=margin / 2.0):
        kappa, product = 0.0, squares[a][p] * squares[a][n]
        if min(squares[a][p], squares[a][n]) > 1e-6:
            printed = 1.0 - torch.dot(z[a], z[p])
            along = printed if form == "printed" else torch.dot(ways[a][p], ways[a][n])
            kappa = along / product.sqrt()
        hinge = squares[a][p] - squares[a][n] + margin - gamma * kappa
        if hinge > 0.0:
            costs.append(hinge)
    return sum(costs) / len(costs) if costs else batch.embeddings_BD.sum() * 0.0

"""Psomas 2020, equation 2.23 with a sign for its indicator, triplet by triplet."""

import torch

from tests.trainables.miners.slow_miners import mined


def oracle(batch, parameters, *, margin, beta, learn_beta, miner):
    z = batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True)
    costs = []
    for a, p, n in mined(batch, miner, margin=margin):
        boundary = parameters["beta"][batch.labels_B[a]] if learn_beta else beta
        for partner, sign in ((p, 1.0), (n, -1.0)):
            cost = margin + sign * (boundary - torch.dot(z[a], z[partner]))
            costs += [cost] if cost > 0.0 else []
    return sum(costs) / len(costs) if costs else batch.embeddings_BD.sum() * 0.0

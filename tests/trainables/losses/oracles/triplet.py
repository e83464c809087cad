"""Psomas 2020, equation 2.17, triplet by triplet; mean over those that cost."""

from tests.trainables.miners.slow_miners import mined


def oracle(batch, parameters, *, margin, miner):
    z = batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True)
    similarities = [[x @ y for y in z] for x in z]
    hinges = [
        similarities[a][n] - similarities[a][p] + margin
        for a, p, n in mined(batch, miner, margin=margin)
    ]
    costs = [hinge for hinge in hinges if hinge > 0.0]
    return sum(costs) / len(costs) if costs else batch.embeddings_BD.sum() * 0.0

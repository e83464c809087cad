"""Schroff et al. 2015, triplet by triplet; mean over those that cost."""

from tests.trainables.miners.slow_miners import mined


def oracle(batch, parameters, *, margin, miner):
    z = batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True)
    squares = [[(x - y).square().sum() for y in z] for x in z]
    # A difference of squared distances is twice that of cosines.
    hinges = [
        squares[a][p] - squares[a][n] + margin
        for a, p, n in mined(batch, miner, margin=margin / 2.0)
    ]
    costs = [hinge for hinge in hinges if hinge > 0.0]
    return sum(costs) / len(costs) if costs else batch.embeddings_BD.sum() * 0.0

"""Wu et al. 2017, section 4, triplet by triplet."""

from tests.trainables.miners.slow_miners import mined


def oracle(batch, parameters, *, margin, beta, learn_beta, nu, miner):
    z = batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True)
    total, num_open = batch.embeddings_BD.sum() * 0.0, 0
    for a, p, n in mined(batch, miner, margin=margin):
        boundary = parameters["beta"][batch.labels_B[a]] if learn_beta else beta
        to_positive, to_negative = distance(z[a], z[p]), distance(z[a], z[n])
        hinges = (to_positive - boundary + margin, boundary - to_negative + margin)
        for hinge in hinges:
            if hinge > 0.0:
                total, num_open = total + hinge, num_open + 1
        if learn_beta:
            total = total + nu * boundary
    return total / num_open if num_open else batch.embeddings_BD.sum() * 0.0


def distance(x, y):
    """Equal embeddings are 1e-6 apart, without a gradient."""
    return (x - y).square().sum().clamp(min=1e-12).sqrt()

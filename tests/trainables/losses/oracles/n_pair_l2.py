"""Sohn 2016, equation 8, on squared distances, with every positive of an anchor in turn."""

import torch

from tests.trainables.losses.slow_pairs import of_anchors, squared_distance


def oracle(batch, parameters, *, norm_weight):
    terms, lengths = [], []
    for x, (positives, negatives) in zip(
        batch.embeddings_BD, of_anchors(batch, squared_distance), strict=True
    ):
        if not positives or not negatives:
            continue
        lengths.append(x.square().sum().sqrt())
        for positive in positives:
            # The exponents have no bound, so the 1 is one of the exponentials.
            exponents = [0.0 * positive, *(positive - negative for negative in negatives)]
            terms.append(torch.logsumexp(torch.stack(exponents), 0))
    if not terms:
        return batch.embeddings_BD.sum() * 0.0
    return sum(terms) / len(terms) + norm_weight * sum(lengths) / len(lengths)

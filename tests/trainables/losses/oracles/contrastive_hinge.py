"""Duffner et al. 2021, equation 7, pair by pair, with means over what is active."""

from tests.trainables.losses.slow_pairs import of_all, squared_distance, sum_of_means, unit_vectors


def oracle(batch, parameters, *, margin):
    positives, negatives = of_all(batch, squared_distance, unit_vectors(batch))
    return sum_of_means(batch, positives, [margin - d for d in negatives if d < margin])

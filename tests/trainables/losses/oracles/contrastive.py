"""Psomas 2020, equation 2.15, pair by pair, with means over what is active."""

from tests.trainables.losses.slow_pairs import cosine, of_all, sum_of_means


def oracle(batch, parameters, *, margin):
    positives, negatives = of_all(batch, cosine)
    near = [s - margin for s in negatives if s > margin]
    return sum_of_means(batch, [-s for s in positives], near)

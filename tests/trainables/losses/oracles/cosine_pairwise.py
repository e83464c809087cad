"""Duffner et al. 2021, pair by pair, with a mean for each side."""

from tests.trainables.losses.slow_pairs import cosine, of_all, sum_of_means


def oracle(batch, parameters, *, target_negative):
    positives, negatives = of_all(batch, cosine)
    far = [(target_negative - s) ** 2 for s in negatives]
    return sum_of_means(batch, [(1.0 - s) ** 2 for s in positives], far)

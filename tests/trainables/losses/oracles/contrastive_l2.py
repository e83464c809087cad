"""Hadsell et al. 2006, equation 4, without the halves, with means over what is active."""

from tests.trainables.losses.slow_pairs import of_all, squared_distance, sum_of_means, unit_vectors


def oracle(batch, parameters, *, positive_margin, negative_margin):
    sides = of_all(batch, squared_distance, unit_vectors(batch))
    positives, negatives = ([d.clamp(min=1e-12).sqrt() for d in side] for side in sides)
    far = [(d - positive_margin) ** 2 for d in positives if d > positive_margin]
    near = [(negative_margin - d) ** 2 for d in negatives if d < negative_margin]
    return sum_of_means(batch, far, near)

"""Nguyen and Bai 2010, over the number of positives: sums, weighed by a ratio."""

from tests.trainables.losses.slow_pairs import cosine, of_all, sum_of_means


def oracle(batch, parameters, *, negative_weight):
    positives, negatives = of_all(batch, cosine)
    if not positives:
        return negative_weight * sum_of_means(batch, negatives)
    alpha = negative_weight * len(positives) / max(1, len(negatives))
    return -(sum(positives) - alpha * sum(negatives)) / len(positives)

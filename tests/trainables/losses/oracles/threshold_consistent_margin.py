"""Zhang et al. 2024, pair by pair."""

from tests.trainables.losses.slow_pairs import cosine, of_all, sum_of_means


def oracle(batch, parameters, *, positive_margin, negative_margin, negative_weight):
    positives, negatives = of_all(batch, cosine)
    hard_positives = [positive_margin - s for s in positives if s < positive_margin]
    hard_negatives = [s - negative_margin for s in negatives if s > negative_margin]
    return sum_of_means(batch, hard_positives) + negative_weight * sum_of_means(
        batch, hard_negatives
    )

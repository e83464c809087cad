"""Yu and Tao 2019, pair by pair."""

from tests.trainables.losses.slow_pairs import dot, of_all, unit_vectors


def oracle(batch, parameters, *, positive_slack, negative_slack):
    positives, negatives = of_all(batch, dot, unit_vectors(batch))
    value = batch.embeddings_BD.sum() * 0.0
    if positives:
        least = (1.0 - positive_slack) * sum(positives) / len(positives)
        value = value + sum((least - s) ** 2 for s in positives if s < least) / len(positives)
    if negatives:
        most = (1.0 + negative_slack) * sum(negatives) / len(negatives)
        value = value + sum((s - most) ** 2 for s in negatives if s > most) / len(negatives)
    return value

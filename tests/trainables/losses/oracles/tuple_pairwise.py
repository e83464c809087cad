"""Berlemont et al. 2017, tuple by tuple: one negative of each other class."""

import itertools


def oracle(batch, parameters, *, norm_weight):
    x, labels = batch.embeddings_BD, batch.labels_B.tolist()
    by_class = {c: [x[i] for i, label in enumerate(labels) if label == c] for c in set(labels)}
    of_references = []
    for i, own in enumerate(labels):
        positives = [x[j] for j, label in enumerate(labels) if label == own and j != i]
        others = [by_class[c] for c in by_class if c != own]
        costs = [
            cost_of_tuple(x[i], positive, negatives, norm_weight)
            for positive in positives
            for negatives in itertools.product(*others)
        ]
        if costs:
            of_references.append(sum(costs) / len(costs))
    return sum(of_references, x.sum() * 0.0) / max(1, len(of_references))


def cost_of_tuple(reference, positive, negatives, norm_weight):
    cost = (1.0 - reference @ positive) ** 2
    cost = cost + sum((reference @ negative) ** 2 for negative in negatives)
    members = (reference, positive, *negatives)
    return cost + norm_weight * sum((1.0 - output.norm()) ** 2 for output in members)

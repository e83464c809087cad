"""The pairs, or samples and classes, of a batch one by one, as the oracles go over them."""

import torch


def cosine(x, y):
    return torch.dot(x, y) / (x.norm() * y.norm())


def dot(x, y):
    return torch.dot(x, y)


def squared_distance(x, y):
    return (x - y).square().sum()


def unit_vectors(batch):
    return [x / x.square().sum().sqrt() for x in batch.embeddings_BD]


def of_anchors(batch, measure, points=None):
    """For each anchor: the measure to every positive of it, and to every negative.

    ``points``: rows in place of the embeddings as they are.
    """
    points = batch.embeddings_BD if points is None else points
    for i, x in enumerate(points):
        positives, negatives = [], []
        for j, y in enumerate(points):
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(measure(x, y))
            elif i != j:
                positives.append(measure(x, y))
        yield positives, negatives


def of_all(batch, measure, points=None):
    """The measures of all ordered pairs of one class, and those of two classes."""
    anchors = list(of_anchors(batch, measure, points))
    return tuple([value for sides in anchors for value in sides[side]] for side in (0, 1))


def sum_of_means(batch, *sides):
    """The means of several lists, 0 for one that is empty, with a gradient in any case."""
    zero = batch.embeddings_BD.sum() * 0.0
    return sum((sum(side, zero) / max(1, len(side)) for side in sides), zero)


def cross_entropy(batch, num_classes, logit):
    """Mean of -log of the own class's share of the powers of ``logit(x, class, is_own)``."""
    total = batch.embeddings_BD.sum() * 0.0
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        powers = [torch.exp(logit(x, c, c == label)) for c in range(num_classes)]
        total = total - torch.log(powers[label] / sum(powers))
    return total / len(batch.labels_B)

"""Cakir et al. 2019: triangular pulses around every node, anchor by anchor."""

from tests.trainables.losses.slow_pairs import (
    of_anchors,
    squared_distance,
    sum_of_means,
    unit_vectors,
)


def oracle(batch, parameters, *, bins):
    width = 4.0 / bins
    losses = [
        1.0 - average_precision(positives, negatives, bins, width)
        for positives, negatives in of_anchors(batch, squared_distance, unit_vectors(batch))
        if positives
    ]
    return sum_of_means(batch, losses)


def average_precision(positives, negatives, bins, width):
    total = nearer_positives = nearer = 0.0
    for node in range(bins + 1):
        own = sum(pulse(distance, node * width, width) for distance in positives)
        nearer_positives = nearer_positives + own
        others = sum(pulse(distance, node * width, width) for distance in negatives)
        nearer = nearer + own + others
        if own > 0.0:
            total = total + own * nearer_positives / nearer
    return total / len(positives)


def pulse(distance, centre, width):
    away = (distance - centre).abs()
    return 1.0 - away / width if away < width else 0.0

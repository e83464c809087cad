"""Goldberger et al. 2004, p_ij of section 2, anchor by anchor, on the sphere."""

import torch

from tests.trainables.losses.slow_pairs import (
    of_anchors,
    squared_distance,
    sum_of_means,
    unit_vectors,
)


def oracle(batch, parameters, *, softmax_scale):
    losses = []
    for sides in of_anchors(batch, squared_distance, unit_vectors(batch)):
        own, other = (sum(torch.exp(-softmax_scale * d) for d in side) for side in sides)
        if sides[0]:
            losses.append(-torch.log(own / (own + other)))
    return sum_of_means(batch, losses)

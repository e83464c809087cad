"""Wang et al. 2019, anchor by anchor; weights are numbers, without gradient."""

import math

from tests.trainables.losses.slow_pairs import of_anchors, squared_distance, unit_vectors


def oracle(batch, parameters, *, radius, margin, imbalance, sharpness):
    def distance(x, y):
        return squared_distance(x, y).clamp(min=1e-12).sqrt()

    total = batch.embeddings_BD.sum() * 0.0
    for positives, negatives in of_anchors(batch, distance, unit_vectors(batch)):
        far = [d - (radius - margin) for d in positives if d > radius - margin]
        near = [radius - d for d in negatives if d < radius]
        if far:
            total = total + (1.0 - imbalance) * sum(far) / len(far)
        if near:
            weights = [math.exp(sharpness * depth.item()) for depth in near]
            weighted = sum(w * depth for w, depth in zip(weights, near, strict=True))
            total = total + imbalance * weighted / sum(weights)
    return total / len(batch.labels_B)

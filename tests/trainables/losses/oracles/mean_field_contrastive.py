"""Furusawa 2024, sample by sample and class by class."""

import torch

from tests.trainables.losses.slow_pairs import cosine


def oracle(batch, parameters, *, positive_margin, negative_margin, field_weight, power):
    fields = list(parameters["proxies"])
    zero = batch.embeddings_BD.sum() * 0.0
    samples, between = zero, zero
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        for c, field in enumerate(fields):
            distance = 1.0 - cosine(x, field)
            own = torch.relu(distance - positive_margin)
            samples = samples + (own if c == label else torch.relu(negative_margin - distance))
    for c, field in enumerate(fields):
        for other in [*fields[:c], *fields[c + 1 :]]:
            hinge = torch.relu(negative_margin - (1.0 - cosine(field, other)))
            between = between + torch.pow(hinge, power)
    return samples / len(batch.labels_B) + field_weight * between / len(fields)

"""Furusawa 2024, class by class."""

import itertools

import torch

from tests.trainables.losses.slow_pairs import cosine


def oracle(batch, parameters, *, alpha, beta, margin, field_weight, power):
    fields = list(parameters["proxies"])
    members = {}
    for x, label in zip(batch.embeddings_BD, batch.labels_B.tolist(), strict=True):
        members.setdefault(label, []).append(x)
    zero = batch.embeddings_BD.sum() * 0.0

    def push(c, v):
        powers = [torch.exp(beta * (cosine(x, fields[v]) - margin)) for x in members.get(c, ())]
        return sum(powers) / len(powers) if powers else zero

    total, between = zero, zero
    for c, own in members.items():
        pulls = [torch.exp(alpha * (margin - cosine(x, fields[c]))) for x in own]
        total = total + torch.log(1.0 + sum(pulls) / len(pulls)) / alpha
    for c, v in itertools.combinations(range(len(fields)), 2):
        total = total + torch.log(1.0 + push(c, v) + push(v, c)) / beta
        hinge = torch.log(1.0 + torch.exp(beta * (cosine(fields[c], fields[v]) - margin))) / beta
        between = between + 2.0 * hinge**power
    return total / len(members) + field_weight * between / len(fields)

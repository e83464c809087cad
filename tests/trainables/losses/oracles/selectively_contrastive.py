"""Xuan et al. 2020, anchor by anchor; equal maxima share their place."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def largest(values):
    top = max(value.item() for value in values)
    equal = [value for value in values if value.item() > top - 1e-6]
    return sum(equal) / len(equal)


def oracle(batch, parameters, *, hard_weight, temperature):
    terms = []
    for positives, negatives in of_anchors(batch, cosine):
        if not positives or not negatives:
            continue
        s_ap, s_an = largest(positives), largest(negatives)
        if s_an.item() > s_ap.item() - 1e-6:
            terms.append(hard_weight * s_an)
        else:
            powers = torch.exp(torch.stack([s_ap, s_an]) / temperature)
            terms.append(-torch.log(powers[0] / powers.sum()))
    return sum(terms, batch.embeddings_BD.sum() * 0.0) / max(1, len(terms))

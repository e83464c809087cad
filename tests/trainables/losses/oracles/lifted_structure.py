"""Psomas 2020, equation 2.21, anchor by anchor, with the mean for the sum over anchors.

The pairs that it runs over are the hard ones of its table 5: a positive that some negative comes
within epsilon of, a negative that comes within epsilon of some positive.
"""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, margin, epsilon):
    total = batch.embeddings_BD.sum() * 0.0
    for positives, negatives in of_anchors(batch, cosine):
        if not positives or not negatives:
            continue
        least, most = min(positives), max(negatives)
        pull = [torch.exp(margin - s) for s in positives if s - epsilon < most]
        push = [torch.exp(s) for s in negatives if s + epsilon > least]
        if pull and push:
            total = total + torch.relu(torch.log(sum(pull)) + torch.log(sum(push)))
    return total / len(batch.labels_B)

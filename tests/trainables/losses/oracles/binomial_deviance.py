"""Yi et al. 2014, equation 6, pair by pair."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_all, sum_of_means


def oracle(batch, parameters, *, alpha, margin, negative_weight):
    positives, negatives = of_all(batch, cosine)
    far = [torch.log(1 + torch.exp(-alpha * (s - margin))) for s in positives]
    near = [torch.log(1 + torch.exp(alpha * negative_weight * (s - margin))) for s in negatives]
    return sum_of_means(batch, far, near)

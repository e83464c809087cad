"""Wang et al. 2019: equations 12 and 13 (mining), then 15, anchor by anchor."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, alpha, beta, margin, epsilon):
    total = batch.embeddings_BD.sum() * 0.0
    for positives, negatives in of_anchors(batch, cosine):
        if not positives or not negatives:
            continue
        least, most = min(positives), max(negatives)
        hard_positives = [s for s in positives if s - epsilon < most]
        hard_negatives = [s for s in negatives if s + epsilon > least]
        for sharpness, sign, hard in (
            (alpha, -1.0, hard_positives),
            (beta, 1.0, hard_negatives),
        ):
            exponentials = [torch.exp(sign * sharpness * (s - margin)) for s in hard]
            total = total + torch.log(1.0 + sum(exponentials)) / sharpness if hard else total
    return total / len(batch.labels_B)

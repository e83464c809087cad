"""Wang et al. 2019: equations 12 and 13 (mining), then 15, anchor by anchor."""

import torch


def oracle(batch, parameters, *, alpha, beta, margin, epsilon):
    total = batch.embeddings_BD.sum() * 0.0
    for i, x in enumerate(batch.embeddings_BD):
        positives, negatives = [], []
        for j, y in enumerate(batch.embeddings_BD):
            similarity = torch.dot(x, y) / (x.norm() * y.norm())
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(similarity)
            elif i != j:
                positives.append(similarity)
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

"""Chopra et al. 2005, pair by pair, with a mean for each side."""

import torch


def oracle(batch, parameters, *, distance, decay):
    dim = batch.embeddings_BD.shape[1]
    largest = 2.0 * dim**0.5 if distance == "l1" else 2.0
    z = [x / x.norm() for x in batch.embeddings_BD]
    genuine, impostors = [], []
    for i, a in enumerate(z):
        for j, b in enumerate(z):
            if i == j:
                continue
            if distance == "l1":
                energy = (a - b).abs().sum()
            else:
                energy = (a - b).square().sum().clamp(min=1e-12).sqrt()
            if batch.labels_B[i] == batch.labels_B[j]:
                genuine.append(2.0 / largest * energy**2)
            else:
                impostors.append(2.0 * largest * torch.exp(-decay / largest * energy))
    zero = batch.embeddings_BD.sum() * 0.0
    return sum(genuine, zero) / max(1, len(genuine)) + sum(impostors, zero) / max(
        1, len(impostors)
    )

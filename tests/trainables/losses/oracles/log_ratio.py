"""Kim et al. 2019, equation 2, pair by pair; the distance of the embeddings squared or not."""

import torch

EPS = 1e-6


def oracle(batch, parameters, *, squared):
    anchor, *others = batch.embeddings_BD
    logs = []
    for index, other in enumerate(others, start=1):
        distance = sum((a - b) ** 2 for a, b in zip(anchor, other, strict=True))
        if not squared:
            distance = distance.sqrt() if distance > 1e-12 else distance * 0.0 + 1e-6
        logs.append(
            (torch.log(distance + EPS), torch.log(batch.label_distances_BB[0, index] + EPS))
        )
    errors = [
        ((f_i - f_j) - (y_i - y_j)) ** 2
        for i, (f_i, y_i) in enumerate(logs)
        for f_j, y_j in logs[i + 1 :]
    ]
    return sum(errors, batch.embeddings_BD.sum() * 0.0) / max(1, len(errors))

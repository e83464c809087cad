"""Duffner et al. 2021, equation 7, pair by pair, with means over what is active."""


def oracle(batch, parameters, *, margin):
    unit = [x / x.square().sum().sqrt() for x in batch.embeddings_BD]
    positives, near = [], []
    for i, x in enumerate(unit):
        for j, y in enumerate(unit):
            square = (x - y).square().sum()
            if batch.labels_B[i] != batch.labels_B[j]:
                if square < margin:
                    near.append(margin - square)
            elif i != j:
                positives.append(square)
    zero = batch.embeddings_BD.sum() * 0.0
    return sum(positives, zero) / max(1, len(positives)) + sum(near, zero) / max(1, len(near))

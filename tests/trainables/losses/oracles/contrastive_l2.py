"""Hadsell et al. 2006, equation 4, without the halves, with means over what is active."""


def oracle(batch, parameters, *, positive_margin, negative_margin):
    unit = [x / x.square().sum().sqrt() for x in batch.embeddings_BD]
    far, near = [], []
    for i, x in enumerate(unit):
        for j, y in enumerate(unit):
            distance = (x - y).square().sum().clamp(min=1e-12).sqrt()
            if batch.labels_B[i] != batch.labels_B[j]:
                if distance < negative_margin:
                    near.append((negative_margin - distance) ** 2)
            elif i != j and distance > positive_margin:
                far.append((distance - positive_margin) ** 2)
    zero = batch.embeddings_BD.sum() * 0.0
    return sum(far, zero) / max(1, len(far)) + sum(near, zero) / max(1, len(near))

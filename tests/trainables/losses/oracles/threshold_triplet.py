"""Naive_TripletLoss of Kim et al. 2019 over every pair of a near and a far label, one by one."""


def oracle(batch, parameters, *, margin, threshold):
    anchor, *others = batch.normalised_BD
    labels = batch.label_distances_BB[0, 1:].tolist()
    squared = [sum((a - b) ** 2 for a, b in zip(anchor, other, strict=True)) for other in others]
    near = [d for d, y in zip(squared, labels, strict=True) if y <= threshold]
    far = [d for d, y in zip(squared, labels, strict=True) if y > threshold]
    hinges = [(d_p - d_n + margin).clamp(min=0.0) for d_p in near for d_n in far]
    return sum(hinges, batch.embeddings_BD.sum() * 0.0) / max(1, len(hinges))

"""Kim et al. 2019, equation 1, for every pair of partners that their labels put in an order."""


def oracle(batch, parameters, *, margin):
    anchor, *others = batch.normalised_BD
    squared = [sum((a - b) ** 2 for a, b in zip(anchor, other, strict=True)) for other in others]
    labels = batch.label_distances_BB[0, 1:].tolist()
    hinges = []
    for d_i, y_i in zip(squared, labels, strict=True):
        for d_j, y_j in zip(squared, labels, strict=True):
            if y_i < y_j:
                hinges.append((d_i - d_j + margin).clamp(min=0.0))
    return sum(hinges, batch.embeddings_BD.sum() * 0.0) / max(1, len(hinges))

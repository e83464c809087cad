"""Ustinova and Lempitsky 2016: node by node over all pairs."""


def oracle(batch, parameters, *, bins):
    points = [x / x.norm() for x in batch.embeddings_BD]
    positives, negatives = [], []
    for i, x in enumerate(points):
        for j in range(i):
            same = batch.labels_B[i] == batch.labels_B[j]
            (positives if same else negatives).append((x * points[j]).sum())
    total = batch.embeddings_BD.sum() * 0.0
    if not positives or not negatives:
        return total
    below = 0.0
    for node in range(bins + 1):
        below = below + height(positives, node, bins) / len(positives)
        total = total + height(negatives, node, bins) / len(negatives) * below
    return total


def height(similarities, node, bins):
    """Triangles around a node, not yet divided by the number of pairs."""
    width = 2.0 / bins
    centre = -1.0 + node * width
    away = [(s - centre).abs() for s in similarities if centre - width < s < centre + width]
    return sum(1.0 - a / width for a in away)

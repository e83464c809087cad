"""Cakir et al. 2019: triangular pulses around every node, anchor by anchor."""


def oracle(batch, parameters, *, bins):
    points = [x / x.norm() for x in batch.embeddings_BD]
    width = 4.0 / bins
    losses = []
    for i, x in enumerate(points):
        positives, negatives = [], []
        for j, y in enumerate(points):
            distance = (x - y).square().sum()
            if batch.labels_B[i] != batch.labels_B[j]:
                negatives.append(distance)
            elif i != j:
                positives.append(distance)
        if positives:
            losses.append(1.0 - average_precision(positives, negatives, bins, width))
    return sum(losses, batch.embeddings_BD.sum() * 0.0) / max(1, len(losses))


def average_precision(positives, negatives, bins, width):
    total = nearer_positives = nearer = 0.0
    for node in range(bins + 1):
        own = sum(pulse(distance, node * width, width) for distance in positives)
        nearer_positives = nearer_positives + own
        others = sum(pulse(distance, node * width, width) for distance in negatives)
        nearer = nearer + own + others
        if own > 0.0:
            total = total + own * nearer_positives / nearer
    return total / len(positives)


def pulse(distance, centre, width):
    away = (distance - centre).abs()
    return 1.0 - away / width if away < width else 0.0

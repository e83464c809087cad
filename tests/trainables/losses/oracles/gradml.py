"""GradML, equation 11: every quadruplet, with distances of at least 1e-6."""

from itertools import combinations


def oracle(batch, parameters, *, k, w):
    labels = batch.labels_B.tolist()
    unit = [x / x.square().sum().sqrt() for x in batch.embeddings_BD]
    powers = {
        (i, j): (unit[i] - unit[j]).square().sum().clamp(min=1e-12).sqrt() ** k
        for i, j in combinations(range(len(unit)), 2)
    }
    pairs = [(i, j) for i, j in powers if labels[i] == labels[j]]
    terms = []
    for (x1, x2), (y1, y2) in combinations(pairs, 2):
        if labels[x1] == labels[y1]:
            continue
        between = sum(powers[min(x, y), max(x, y)] for x in (x1, x2) for y in (y1, y2))
        terms.append(powers[x1, x2] + powers[y1, y2] - w * between)
    return sum(terms) / len(terms) if terms else batch.embeddings_BD.sum() * 0.0

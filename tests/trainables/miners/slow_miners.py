"""Every triplet miner once more, triplet by triplet, on lists of numbers."""

import bisect
import itertools
import math

# Vectors that are equal have equal products, up to rounding.
TIE = 1e-12


def cosines(batch):
    vectors = (batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True)).tolist()
    return [[sum(map(float.__mul__, x, y)) for y in vectors] for x in vectors]


def mined(batch, miner, *, margin):
    """Index triplets (a, p, n) that ``miner`` keeps; margin as a difference of cosines."""
    labels, s = batch.labels_B.tolist(), cosines(batch)
    rows = range(len(labels))
    kept = []
    for a in rows:
        positives = [p for p in rows if p != a and labels[p] == labels[a]]
        negatives = [n for n in rows if labels[n] != labels[a]]
        if positives and negatives:
            pairs = CHOICES[miner](batch, s[a], a, positives, negatives, margin)
            kept += [(a, p, n) for p, n in pairs]
    return kept


def all_triplets(batch, s, a, positives, negatives, margin):
    return list(itertools.product(positives, negatives))


def semihard_band(batch, s, a, positives, negatives, margin):
    pairs = itertools.product(positives, negatives)
    return [(p, n) for p, n in pairs if TIE < s[p] - s[n] <= margin]


def semihard_hardest(batch, s, a, positives, negatives, margin):
    pairs = []
    for p in positives:
        easier = [n for n in negatives if s[n] < s[p] - TIE]
        hardest = max((s[n] for n in easier), default=math.inf)
        pairs += [(p, n) for n in easier if s[n] >= hardest - TIE]
    return pairs


def batch_hard(batch, s, a, positives, negatives, margin):
    least, most = min(s[p] for p in positives), max(s[n] for n in negatives)
    return [
        (p, n)
        for p, n in itertools.product(positives, negatives)
        if s[p] <= least + TIE and s[n] >= most - TIE
    ]


def moderate_positives(batch, s, a, positives, negatives, margin):
    most = max(s[n] for n in negatives)
    closer = [p for p in positives if s[p] > most + TIE]
    moderate = min((s[p] for p in closer), default=max(s[p] for p in positives))
    return [
        (p, n)
        for p, n in itertools.product(positives, negatives)
        if abs(s[p] - moderate) <= TIE and s[n] >= most - TIE
    ]


def random_negative(batch, s, a, positives, negatives, margin):
    return _draw(batch, s, a, positives, negatives, [1.0] * len(negatives))


def distance_weighted(batch, s, a, positives, negatives, margin):
    ascending = _ascending(s, negatives)
    return _draw(batch, s, a, positives, negatives, weights(s, ascending, batch))


def weights(s, negatives, batch):
    """Wu et al. 2017, section 4, each divided by the anchor's largest."""
    dim = batch.embeddings_BD.shape[1]
    distances = [math.sqrt(max(0.0, 2.0 - 2.0 * s[n])) for n in negatives]
    near = [max(d, 0.5) for d in distances if d < 1.4]
    if not near:
        return [1.0] * len(negatives)

    def log_density(d):
        return (dim - 2) * math.log(d) + (dim - 3) / 2 * math.log(1 - d * d / 4)

    least = min(map(log_density, near))
    return [math.exp(least - log_density(max(d, 0.5))) if d < 1.4 else 0.0 for d in distances]


def _draw(batch, s, a, positives, negatives, weights):
    """Inverse distribution function over the negatives, the least similar first."""
    ascending = _ascending(s, negatives)
    up_to = list(itertools.accumulate(weights))
    return [
        (p, ascending[bisect.bisect_right(up_to, batch.uniform_BB[a, p].item() * up_to[-1])])
        for p in positives
    ]


def _ascending(s, negatives):
    """Negatives by similarity; equally similar ones by index."""
    return sorted(negatives, key=lambda n: (round(s[n], 11), n))


CHOICES = {
    function.__name__: function
    for function in (
        all_triplets,
        batch_hard,
        distance_weighted,
        moderate_positives,
        random_negative,
        semihard_band,
        semihard_hardest,
    )
}

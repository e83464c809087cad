"""Ranks by slow loops in float64: every cosine on its own, every query against every image."""

import math

import torch

# Cosines this close are ties, and ties count against the query.
TIE = 1e-12

GEOMETRIES = ("cosine", "euclidean", "poincare")


def cosine(a, b):
    length = math.sqrt(math.fsum(v * v for v in a)) * math.sqrt(math.fsum(v * v for v in b))
    return math.fsum(v * w for v, w in zip(a, b, strict=True)) / length if length else 0.0


def minus_squared_distance(a, b):
    return -math.fsum((v - w) ** 2 for v, w in zip(a, b, strict=True))


def minus_cosh(a, b):
    """Of the Poincare distance times the root of the curvature."""
    p, q = map(in_ball, (a, b))
    rests = [1.0 - math.fsum(v * v for v in point) for point in (p, q)]
    return -1.0 + 2.0 * minus_squared_distance(p, q) / math.prod(rests)


def in_ball(row):
    """The image, in the ball of radius 1, of what is left of an embedding that is cut."""
    length = math.hypot(*row)
    share = math.tanh(math.sqrt(0.1) * min(length, 2.3)) / length if length else 0.0
    return [share * v for v in row]


def measured(geometry, rows):
    """What pairs of a geometry are ordered by, in the unit of its ties."""
    longest = max(math.hypot(*row) for row in rows)
    if geometry == "cosine":
        return cosine
    if geometry == "euclidean":
        unit = 4.0 * longest**2 or 1.0
        return lambda a, b: minus_squared_distance(a, b) / unit
    unit = math.cosh(4.0 * math.sqrt(0.1) * min(longest, 2.3))
    return lambda a, b: minus_cosh(a, b) / unit


def rank_of_first_positive(query, label, others, similarity=cosine):
    """``others``: (embedding, label) pairs. None if no other has the query's label."""
    similarities = [(similarity(query, other), other_label) for other, other_label in others]
    positives = [s for s, other_label in similarities if other_label == label]
    if not positives:
        return None
    negatives = [s for s, other_label in similarities if other_label != label]
    return 1 + sum(s >= max(positives) - TIE for s in negatives)


def oracle_ranks(embeddings, labels, geometry="cosine"):
    """Rank of every row against all others; None for a singleton."""
    embeddings = embeddings.double().tolist()
    similarity = measured(geometry, embeddings)
    rows = list(zip(embeddings, labels.tolist(), strict=True))
    return [
        rank_of_first_positive(row, label, rows[:index] + rows[index + 1 :], similarity)
        for index, (row, label) in enumerate(rows)
    ]


def oracle_ranks_between(queries, query_labels, gallery, gallery_labels, geometry="cosine"):
    queries, gallery = queries.double().tolist(), gallery.double().tolist()
    similarity = measured(geometry, queries + gallery)
    others = list(zip(gallery, gallery_labels.tolist(), strict=True))
    return [
        rank_of_first_positive(row, label, others, similarity)
        for row, label in zip(queries, query_labels.tolist(), strict=True)
    ]


def as_list(ranks, num_rows):
    """`FirstPositiveRanks` as the oracle writes them."""
    filled = [None] * num_rows
    for index, rank in zip(ranks.indices_Q.tolist(), ranks.ranks_Q.tolist(), strict=True):
        filled[index] = rank
    return filled


def clustered(num_rows, num_classes, dim, *, noise, seed=0):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, num_classes, (num_rows,), generator=generator)
    centres = torch.randn(num_classes, dim, generator=generator)
    return centres[labels] + noise * torch.randn(num_rows, dim, generator=generator), labels


def in_one(queries, gallery):
    """Embeddings, labels and roles of queries and gallery, in an order that mixes neither."""
    embeddings, labels = (torch.cat(parts) for parts in zip(queries, gallery, strict=True))
    return embeddings, labels, torch.arange(len(labels)) >= len(queries[1])

"""Ranks by slow loops in float64: every cosine on its own, every query against every image."""

import math

import torch

# Cosines this close are ties, and ties count against the query.
TIE = 1e-12


def cosine(a, b):
    length = math.sqrt(math.fsum(v * v for v in a)) * math.sqrt(math.fsum(v * v for v in b))
    return math.fsum(v * w for v, w in zip(a, b, strict=True)) / length if length else 0.0


def rank_of_first_positive(query, label, others):
    """``others``: (embedding, label) pairs. None if no other has the query's label."""
    similarities = [(cosine(query, other), other_label) for other, other_label in others]
    positives = [s for s, other_label in similarities if other_label == label]
    if not positives:
        return None
    negatives = [s for s, other_label in similarities if other_label != label]
    return 1 + sum(s >= max(positives) - TIE for s in negatives)


def oracle_ranks(embeddings, labels):
    """Rank of every row against all others; None for a singleton."""
    rows = list(zip(embeddings.double().tolist(), labels.tolist(), strict=True))
    return [
        rank_of_first_positive(row, label, rows[:index] + rows[index + 1 :])
        for index, (row, label) in enumerate(rows)
    ]


def oracle_ranks_between(queries, query_labels, gallery, gallery_labels):
    others = list(zip(gallery.double().tolist(), gallery_labels.tolist(), strict=True))
    return [
        rank_of_first_positive(row, label, others)
        for row, label in zip(queries.double().tolist(), query_labels.tolist(), strict=True)
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

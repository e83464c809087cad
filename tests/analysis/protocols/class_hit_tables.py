"""Tables of class hits from arrays, and what choosing by some of their classes adds."""

from itertools import combinations

import numpy as np
import polars as pl

from tests.analysis.protocol_studies import PLACE


def class_hits_of(hits_CEK, queries, **columns):
    """Hits of configs by epochs by classes; ``queries`` is one number, or one for each class."""
    config, epoch, class_id = np.indices(np.shape(hits_CEK)).reshape(3, -1)
    frame = pl.DataFrame(
        {
            "config": [f"c{c}" for c in config],
            "epoch": epoch,
            "class_id": class_id,
            "queries": np.broadcast_to(queries, np.shape(hits_CEK)[-1:])[class_id],
            "hits": np.asarray(hits_CEK).reshape(-1),
        }
    )
    values = {**PLACE, "repeat": 0, "seed": 0, "fold": None, **columns}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in values.items())


def slow_optimism_over_sides(networks_of, queries, sides):
    """Chooses by each side in turn. ``networks_of``: config to networks, epoch by class hits."""
    totals, epochs, scores = [], [], []
    for side in sides:
        rest = [k for k in range(len(queries)) if k not in side]
        chosen, elsewhere = {}, {}
        for config, networks in networks_of.items():
            ours, theirs = [], []
            for hits in networks:
                recall = [
                    sum(row[k] for k in side) / sum(queries[k] for k in side) for row in hits
                ]
                best = recall.index(max(recall))
                ours.append(recall[best])
                theirs.append(sum(hits[best][k] for k in rest) / sum(queries[k] for k in rest))
            chosen[config], elsewhere[config] = np.mean(ours).round(9), np.mean(theirs)
        picks = [config for config in chosen if chosen[config] == max(chosen.values())]
        totals.append(np.mean([chosen[c] - elsewhere[c] for c in picks]))
        scores.append(np.mean([elsewhere[c] for c in picks]))
        epochs.append(np.mean([chosen[c] - elsewhere[c] for c in chosen]))
    return np.mean(totals), np.mean(epochs), np.mean(scores)


def both_ways(num):
    sizes = {num // 2, num - num // 2}
    return [side for size in sizes for side in combinations(range(num), size)]

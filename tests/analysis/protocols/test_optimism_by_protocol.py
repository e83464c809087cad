"""Luck of classes over repeats: against draws of the true model, and without fresh classes."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.protocols.optimism_by_protocol import optimism_over_classes
from podium.analysis.scores.protocol_run_checks import checked
from tests.analysis.protocols.class_hit_tables import (
    both_ways,
    class_hits_of,
    slow_optimism_over_sides,
)

REPEATS, CONFIGS, EPOCHS, CLASSES, QUERIES = 6, 6, 2, 6, 20
TRUE_C = np.random.default_rng(3).normal(0.7, 0.02, CONFIGS)


def simulated_hits(generator, *, is_fresh):
    """Hits (R, C, E, K): classes are easier or harder, and suit some configs."""
    found = []
    for repeat in range(REPEATS):
        if is_fresh or repeat == 0:
            of_classes_CK = generator.normal(0, 0.1, CLASSES) + generator.normal(
                0, 0.12, (CONFIGS, CLASSES)
            )
        of_epochs = generator.normal(0, 0.03, (CONFIGS, EPOCHS, CLASSES))
        chances = TRUE_C[:, None, None] + of_classes_CK[:, None] + of_epochs
        found.append(generator.binomial(QUERIES, chances.clip(0, 1)))
    return np.array(found)


def slow_optimism(hits_CEK):
    """Of one search, over all halves."""
    networks = {config: [hits_EK] for config, hits_EK in enumerate(hits_CEK.tolist())}
    return slow_optimism_over_sides(networks, [QUERIES] * CLASSES, both_ways(CLASSES))[0]


def optimism_of_hits(hits, **options):
    frames = [class_hits_of(one, QUERIES, repeat=repeat) for repeat, one in enumerate(hits)]
    found = optimism_over_classes([checked(pl.concat(frames), "class hits")], **options)
    return found.filter(pl.col("measure") == "optimism").row(0, named=True)


def test_the_mean_over_repeats_equals_a_slow_computation():
    hits = simulated_hits(np.random.default_rng(0), is_fresh=True)
    expected = np.mean([slow_optimism(hits_CEK) for hits_CEK in hits])
    assert optimism_of_hits(hits)["mean"] == pytest.approx(expected)


def test_repeats_of_the_same_classes_give_no_interval():
    hits = simulated_hits(np.random.default_rng(0), is_fresh=False)
    row = optimism_of_hits(hits, one_split=["p"])
    assert row["mean"] == pytest.approx(np.mean([slow_optimism(one) for one in hits]))
    assert (row["low"], row["high"], row["standard_error"]) == (None, None, None)

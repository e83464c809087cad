import csv
import itertools
import math
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
from scipy import special, stats

from podium.analysis.estimates.t_test_power import detectable_difference, pairs_needed

DATA = Path(__file__).parents[2] / "data"


def power_of(difference, num_pairs, difference_std):
    """By scipy: the square of t is F, noncentral with the square of the shift."""
    df, shift = num_pairs - 1, difference * math.sqrt(num_pairs) / difference_std
    return 1 - special.ncfdtr(1, df, shift**2, stats.f.ppf(0.95, 1, df))


@pytest.mark.parametrize("num_pairs", [2, 3, 5, 12, 100])
def test_the_detectable_difference_has_the_wanted_power(num_pairs):
    found = detectable_difference(num_pairs, difference_std=1.7)
    assert power_of(found, num_pairs, 1.7) == pytest.approx(0.8, abs=2e-4)


@pytest.mark.parametrize("difference", [0.2, 0.5, 1.0, 2.0, 30.0])
def test_pairs_needed_are_the_first_that_suffice(difference):
    """Counted up one by one, by scipy."""
    needed = next(num for num in itertools.count(2) if power_of(difference, num, 1.3) >= 0.8)
    assert pairs_needed(difference, difference_std=1.3) == needed


def test_what_no_number_of_pairs_can_show_is_none():
    assert detectable_difference(1, difference_std=1.0) is None
    assert pairs_needed(1e-4, difference_std=1.0) is None
    assert pairs_needed(1.0, difference_std=0.0) == 2
    assert detectable_difference(2, difference_std=0.0) == 0.0


def test_published_losses_differ_by_block_as_much_as_plans_assume():
    """Standard deviation over the 12 blocks of a published table, of all 45 pairs of losses."""
    recalls = defaultdict(dict)
    with (DATA / "thesis_recall_cub200.csv").open() as file:
        for row in csv.DictReader(file):
            if row["k"] == "1":
                recalls[row["loss"]][row["backbone"], row["embedding_dim"]] = float(row["recall"])
    deviations = [
        statistics.stdev(
            recalls[first][block] - recalls[second][block] for block in recalls[first]
        )
        for first, second in itertools.combinations(recalls, 2)
    ]
    assert len(deviations) == 45
    assert statistics.median(deviations) == pytest.approx(1.25, abs=0.005)

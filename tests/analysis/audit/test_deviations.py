"""Possible deviations against every set of ranks there is."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from analysis.audit.deviations import RankTotal, is_possible_sd, nearest_sds
from analysis.typed_tables.printed_numbers import Printed


def every_sd(n, k, denominator, ddof):
    """Total -> all deviations of n ranks from 1 to k, whole or halves, by listing them."""
    found = {}
    values = [step / denominator for step in range(denominator, k * denominator + 1)]
    for ranks in itertools.combinations_with_replacement(values, n):
        found.setdefault(sum(ranks), set()).add(float(np.std(ranks, ddof=ddof)))
    return found


@pytest.mark.parametrize(("n", "k", "denominator"), [(2, 6, 1), (4, 5, 1), (6, 4, 1), (5, 3, 2)])
@pytest.mark.parametrize("ddof", [0, 1])
def test_a_printed_deviation_is_possible_if_some_ranks_round_to_it(n, k, denominator, ddof):
    for total, sds in every_sd(n, k, denominator, ddof).items():
        ranks = RankTotal(
            total=Fraction(total), num_blocks=n, num_competitors=k, denominator=denominator
        )
        for hundredths in range(100 * k // 2):
            value = hundredths / 100
            printed = Printed(value=Fraction(hundredths, 100), decimals=2, own_decimals=2)
            # half a unit away exactly may be rounded either way
            expected = any(abs(sd - value) <= 0.005 + 1e-12 for sd in sds)
            assert is_possible_sd(printed, ranks, ddof) == expected, (total, value)


@pytest.mark.parametrize("value", ["0.37", "1.11", "1.89", "9.00"])
def test_the_nearest_possible_deviations_are_those_of_real_ranks(value):
    printed = Printed(value=Fraction(value), decimals=2, own_decimals=2)
    for total, sds in every_sd(4, 5, 1, 1).items():
        ranks = RankTotal(total=Fraction(total), num_blocks=4, num_competitors=5)
        near = [float(sd) for sd in nearest_sds(printed, ranks, 1)]
        below = [sd for sd in sds if sd <= float(value)]
        above = [sd for sd in sds if sd > float(value)]
        wanted = ([max(below)] if below else []) + ([min(above)] if above else [])
        assert near == pytest.approx(wanted)


def test_with_many_blocks_bounds_and_parity_are_all_that_is_asked():
    ranks = RankTotal(total=Fraction(1_000), num_blocks=200, num_competitors=9)
    (near, other) = nearest_sds(
        Printed(value=Fraction(20_001, 10_000), decimals=4, own_decimals=4), ranks, 1
    )
    assert near == 2
    assert other > near
    # two in the sum of squares apart
    assert float(other**2 - near**2) == pytest.approx(2 / 199)
    huge = Printed(value=Fraction(5), decimals=2, own_decimals=2)
    assert not is_possible_sd(huge, ranks, 1)


def test_the_deviation_of_lifted_structure_in_the_thesis_is_of_no_whole_ranks():
    ranks = RankTotal(total=Fraction(54), num_blocks=12, num_competitors=10)
    wrong = Printed(value=Fraction(189, 100), decimals=2, own_decimals=2)
    right = Printed(value=Fraction(188, 100), decimals=2, own_decimals=2)
    assert not is_possible_sd(wrong, ranks, 1)
    assert is_possible_sd(right, ranks, 1)
    assert [float(sd) for sd in nearest_sds(wrong, ranks, 1)] == pytest.approx(
        [math.sqrt(39 / 11), math.sqrt(41 / 11)]
    )

from itertools import chain, combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.analysis.hypothesis_tests.cliques import homogeneous_groups


def symmetric(p_above):
    size = 1 + max(chain(*p_above), default=0)
    p = np.eye(size)
    for (a, b), value in p_above.items():
        p[a, b] = p[b, a] = value
    return p


def brute_force_groups(p, alpha):
    nodes = range(len(p))
    alike = [
        set(group)
        for size in range(2, len(p) + 1)
        for group in combinations(nodes, size)
        if all(p[a, b] > alpha for a, b in combinations(group, 2))
    ]
    maximal = [g for g in alike if not any(g < other for other in alike)]
    return sorted(tuple(sorted(g)) for g in maximal)


@st.composite
def p_matrices(draw):
    size = draw(st.integers(1, 7))
    p = np.eye(size)
    for a, b in combinations(range(size), 2):
        p[a, b] = p[b, a] = draw(st.sampled_from([0.01, 0.05, 0.2, float("nan")]))
    return p


@given(p_matrices())
def test_groups_equal_those_found_by_trying_every_subset(p):
    assert list(homogeneous_groups(p, 0.05)) == brute_force_groups(p, 0.05)


def test_a_group_is_not_filled_in_between():
    p = symmetric({(0, 1): 0.01, (0, 2): 0.5, (1, 2): 0.01})
    assert homogeneous_groups(p) == ((0, 2),)


def test_an_unknown_p_joins_none():
    assert homogeneous_groups(symmetric({(0, 1): float("nan")})) == ()


def test_a_p_of_alpha_separates():
    assert homogeneous_groups(symmetric({(0, 1): 0.05}), alpha=0.05) == ()

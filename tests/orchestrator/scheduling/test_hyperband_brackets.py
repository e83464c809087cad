import math
from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from podium.orchestrator.scheduling.early_stopping import bracket_of, bracket_sizes

rungs = st.integers(0, 6)
factors = st.integers(2, 4)


def cycle(num_rungs, factor, length=None):
    length = length or sum(bracket_sizes(num_rungs, factor))
    return [
        bracket_of(index, num_rungs=num_rungs, reduction_factor=factor) for index in range(length)
    ]


def test_sizes_are_those_that_other_software_documents():
    """The table of mlr3hyperband's `tnr("hyperband")`: eta = 2, budgets of 1 to 8."""
    assert bracket_sizes(3, 2) == (8, 6, 4, 4)


@given(rungs, factors)
def test_sizes_follow_the_paper(num_rungs, factor):
    expected = [
        math.ceil(Fraction((num_rungs + 1) * factor**s, s + 1)) for s in range(num_rungs, -1, -1)
    ]
    assert list(bracket_sizes(num_rungs, factor)) == expected


@given(rungs, factors)
def test_a_cycle_holds_every_bracket_as_often_as_the_paper_says_and_then_begins_again(
    num_rungs, factor
):
    turns = cycle(num_rungs, factor)
    sizes = bracket_sizes(num_rungs, factor)
    assert Counter(turns) == dict(enumerate(sizes))
    assert cycle(num_rungs, factor, 2 * len(turns)) == turns * 2


@given(rungs, factors, st.integers(1, 200))
def test_every_beginning_of_a_search_has_the_papers_shares(num_rungs, factor, num_trials):
    sizes = bracket_sizes(num_rungs, factor)
    turns = Counter(cycle(num_rungs, factor, num_trials))
    for bracket, size in enumerate(sizes):
        assert abs(turns[bracket] - num_trials * size / sum(sizes)) < 1.5


def test_turns_are_mixed():
    assert cycle(2, 3) == [0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 1, 0, 2, 0, 1, 0]


@given(factors, st.integers(0, 50))
def test_a_search_without_rungs_has_one_bracket(factor, index):
    assert bracket_of(index, num_rungs=0, reduction_factor=factor) == 0

"""Hyperband's brackets (Li et al. 2018, algorithm 1), dealt out suggestion by suggestion.

Bracket b leaves out the first b rungs of a search, so it stops its trials the later the larger b
is, and the last one never does. The paper fills one bracket after the other; here suggestions take
turns, so that every beginning of a search, however short its budget, has about the paper's shares.
A suggestion's bracket follows from its index alone: it does not depend on the budget, on who
finished first, or on whether the search was interrupted.
"""

import functools

__all__ = ["bracket_of", "bracket_sizes"]


def bracket_sizes(num_rungs: int, reduction_factor: int) -> tuple[int, ...]:
    """How many of a full cycle of suggestions each bracket takes, the first to stop trials first.

    With s rungs to come a trial costs about (s + 1) / reduction_factor**s of a full one, so these
    sizes give all brackets the same share of the epochs.

    Args:
        num_rungs: of the search; brackets leave out 0 to all of them.
        reduction_factor: from 2.

    Returns:
        The paper's n: ceil((num_rungs + 1) / (s + 1) * reduction_factor**s) for s = num_rungs,
        ..., 0.
    """
    # A quotient of whole numbers, rounded up without leaving them.
    return tuple(
        -(-(num_rungs + 1) * reduction_factor**left // (left + 1))
        for left in range(num_rungs, -1, -1)
    )


def bracket_of(index: int, *, num_rungs: int, reduction_factor: int) -> int:
    """The bracket of suggestion ``index``, which is also the first rung that concerns its trial.

    Args:
        index: from 0.
        num_rungs: of the search.
        reduction_factor: from 2.

    Returns:
        0 to ``num_rungs``.
    """
    cycle = _cycle(num_rungs, reduction_factor)
    return cycle[index % len(cycle)]


@functools.cache
def _cycle(num_rungs: int, reduction_factor: int) -> tuple[int, ...]:
    """Each turn goes to the bracket furthest behind its share, the smaller one on ties."""
    sizes = bracket_sizes(num_rungs, reduction_factor)
    length = sum(sizes)
    behind = [0] * len(sizes)
    turns = []
    for _ in range(length):
        behind = [lag + size for lag, size in zip(behind, sizes, strict=True)]
        turn = behind.index(max(behind))
        behind[turn] -= length
        turns.append(turn)
    return tuple(turns)

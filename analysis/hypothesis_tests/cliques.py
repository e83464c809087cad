"""Groups of competitors without a significant difference."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def homogeneous_groups(
    p_values_CC: NDArray[np.float64], alpha: float = 0.05
) -> tuple[tuple[int, ...], ...]:
    """All maximal groups of two or more in which no pair is significantly different.

    The groups may overlap and may skip competitors: "not significantly different" is not
    transitive, and a group is never filled in between. A NaN joins none.

    Args:
        p_values_CC: symmetric matrix of adjusted p; the diagonal is ignored.
        alpha: significance level; pairs with p > alpha are not significantly different.

    Returns:
        Column numbers, ascending within a group, groups in lexicographic order.
    """
    joined_CC = p_values_CC > alpha  # False for NaN
    neighbours = [
        {int(other) for other in np.flatnonzero(row) if other != i}
        for i, row in enumerate(joined_CC)
    ]
    found = _maximal_cliques(neighbours, [], set(range(len(neighbours))), set())
    return tuple(sorted(group for group in found if len(group) > 1))


def _maximal_cliques(
    neighbours: list[set[int]], clique: list[int], candidates: set[int], excluded: set[int]
) -> Iterator[tuple[int, ...]]:
    """Bron and Kerbosch 1973 with a pivot."""
    if not candidates and not excluded:
        yield tuple(sorted(clique))
        return
    pivot = max(candidates | excluded, key=lambda node: len(neighbours[node] & candidates))
    for node in sorted(candidates - neighbours[pivot]):
        near = neighbours[node]
        yield from _maximal_cliques(
            neighbours, [*clique, node], candidates & near, excluded & near
        )
        candidates = candidates - {node}
        excluded = excluded | {node}

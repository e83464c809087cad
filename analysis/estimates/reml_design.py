"""The rows of a mixed model as sufficient statistics, clusters of one design together.

N rows, C cells of a cluster, M clusters of one design, P fixed effects, L levels.

Levels of a term in a large cluster that could be exchanged, such as configs that were trained once
on each split, enter as the means of their cells and as sums of squares and products around these,
which loses nothing either: differences between such levels depend on nothing that they share. So a
cluster of a thousand configs takes no matrix of a million numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]

# Cells of a cluster from which on levels that could be exchanged are taken together. Below it
# matrices are small, and results keep the bits that they had in earlier versions.
MANY_CELLS = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Covariance:
    """What the covariance of a cluster follows from, whatever its fixed effects.

    ``same_TCC`` says which cells share a level of each term, ``shares_C`` is 1 over the rows of a
    cell. A cell that stands for those of m levels that could be exchanged has m times the rows,
    and shares 1 / m of a term's level where each of the m has a level of its own.
    """

    same_TCC: _Floats
    shares_C: _Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Clusters whose cells have the same design; scores are scaled.

    ``means_CM`` are the cells' means, one column a cluster. Patterns whose covariances are equal
    have the same object.
    """

    covariance: Covariance
    fixed_CP: _Floats
    means_CM: _Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts:
    """Differences between levels that could be exchanged, of any cluster.

    Attributes:
        covariance: covariance of the cells of one level, without terms that levels share.
        df: degrees of freedom: levels minus 1, summed over clusters.
        squares_CC: sums of squares and products of cells around their means over levels, scaled.
    """

    covariance: Covariance
    df: int
    squares_CC: _Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A mixed model's data.

    Attributes:
        patterns: all clusters, grouped by their design.
        contrasts: what cells of ``patterns`` that stand for several do not say of these.
        within: sum of squares within cells, scaled.
        within_df: degrees of freedom of ``within``: rows minus cells.
        scale: variance of the rows around the fixed effects, by whose root scores are divided;
            0 if they do not vary.
        num_rows: number of rows N.
        num_fixed: number of fixed effects P.
        num_levels: number of levels of each term that is estimated, and of the residual, which
            comes last.
        merged: term -> what it is confounded with, as in `analysis.estimates.reml.RemlFit`.
    """

    patterns: tuple[Pattern, ...]
    contrasts: tuple[Contrasts, ...]
    within: float
    within_df: int
    scale: float
    num_rows: int
    num_fixed: int
    num_levels: Mapping[str, int]
    merged: Mapping[str, str]


def design_of(
    scores_N: _Floats,
    fixed_N: Sequence[object],
    clusters_N: Sequence[object],
    terms: Mapping[str, Sequence[object]],
) -> Design:
    """The design of these rows, in whatever order they come.

    Raises:
        ValueError: lengths differ.
    """
    num = len(scores_N)
    lengths = {len(fixed_N), len(clusters_N), *(len(levels) for levels in terms.values())}
    if lengths - {num}:
        raise ValueError(f"all columns must have {num} rows; got {sorted(lengths)}")
    fixed = _codes(fixed_N)
    clusters = _codes(clusters_N)
    nested = {name: _pair(clusters, _codes(levels)) for name, levels in terms.items()}
    # Sums of floats depend on their order, which is to be that of the values.
    order = np.lexsort([scores_N, *nested.values(), fixed, clusters])
    scores_N, fixed, clusters = scores_N[order], fixed[order], clusters[order]
    nested = {name: codes[order] for name, codes in nested.items()}
    kept, merged = _identifiable(nested, fixed)
    num_fixed = len(np.unique(fixed))
    rest_N = scores_N - _means(scores_N, fixed)[fixed]
    scale = float((rest_N**2).sum()) / max(num - num_fixed, 1)
    # Means of equal scores differ by rounding, which is no variance.
    if scale <= 1e-20 * max(float((scores_N**2).mean()), 1e-300) or num <= num_fixed:
        scale = 0.0
    numbers = {name: len(np.unique(nested[name])) for name in kept}
    columns = np.stack([clusters, fixed, *(nested[name] for name in kept)], axis=1)
    cells_CK, cell_of_N = np.unique(columns, axis=0, return_inverse=True)
    cell_of_N = cell_of_N.reshape(-1)
    counts_C = np.bincount(cell_of_N, minlength=len(cells_CK))
    unit_N = (scores_N - scores_N.mean()) / np.sqrt(scale) if scale else np.zeros(num)
    means_C = np.bincount(cell_of_N, weights=unit_N, minlength=len(cells_CK)) / counts_C
    clustered, contrasts = _without_exchangeable(_clustered(cells_CK, counts_C, means_C))
    return Design(
        patterns=tuple(_patterns(clustered, num_fixed)),
        contrasts=contrasts,
        within=float(((unit_N - means_C[cell_of_N]) ** 2).sum()),
        within_df=num - len(cells_CK),
        scale=scale,
        num_rows=num,
        num_fixed=num_fixed,
        num_levels={**numbers, "residual": num - len(cells_CK) or num},
        merged=merged,
    )


def _codes(labels: Sequence[object]) -> _Codes:
    """Numbers of labels in sorted order, so that rows may come in any order."""
    texts = [str(label) for label in labels]
    numbers = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.fromiter((numbers[text] for text in texts), np.int64, len(texts))


def _pair(first: _Codes, second: _Codes) -> _Codes:
    if not len(first):
        return first
    pairs = first * (second.max() + 1) + second
    return np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _identifiable(nested: Mapping[str, _Codes], fixed: _Codes) -> tuple[list[str], dict[str, str]]:
    """Names of the identifiable terms, and what the others are confounded with."""
    kept: list[str] = []
    merged: dict[str, str] = {}
    for name, codes in nested.items():
        num_levels = len(np.unique(codes))
        same = [other for other in kept if _is_same(nested[other], codes)]
        if num_levels < 2 or _is_within(fixed, codes):
            merged[name] = ""
        elif same:
            merged[name] = same[0]
        elif num_levels == len(codes):
            merged[name] = "residual"
        else:
            kept.append(name)
    return kept, merged


def _is_same(first: _Codes, second: _Codes) -> bool:
    return _is_within(first, second) and _is_within(second, first)


def _is_within(fine: _Codes, coarse: _Codes) -> bool:
    """Whether rows that share a level of ``fine`` always share one of ``coarse``."""
    return len(np.unique(_pair(fine, coarse))) == len(np.unique(fine))


def _means(scores_N: _Floats, codes: _Codes) -> _Floats:
    if not len(codes):
        return np.zeros(0)
    means: _Floats = np.bincount(codes, weights=scores_N) / np.bincount(codes)
    return means


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cluster:
    """The cells of a cluster: levels of the fixed effect and the terms, rows, means of scores.

    ``own_CT`` is the share that two cells with the same level of a term have of it: 1 unless they
    stand for several.
    """

    levels_CK: _Codes
    counts_C: NDArray[np.intp]
    means_C: _Floats
    own_CT: _Floats

    def taken(self, cells: NDArray[np.intp]) -> "_Cluster":
        """Some of the cells, in this order."""
        return _Cluster(
            levels_CK=self.levels_CK[cells],
            counts_C=self.counts_C[cells],
            means_C=self.means_C[cells],
            own_CT=self.own_CT[cells],
        )

    def covariance(self) -> Covariance:
        """The covariance of its cells."""
        terms_TC = self.levels_CK[:, 1:].T
        same_TCC = (terms_TC[:, :, None] == terms_TC[:, None, :]).astype(np.float64)
        return Covariance(
            same_TCC=same_TCC * self.own_CT.T[:, :, None], shares_C=1.0 / self.counts_C
        )


def _clustered(
    cells_CK: _Codes, counts_C: NDArray[np.intp], means_C: _Floats
) -> Iterator[_Cluster]:
    """The clusters of cells that are sorted by them."""
    starts = np.flatnonzero(np.diff(cells_CK[:, 0], prepend=-1))
    for start, end in pairwise([*starts, len(cells_CK)]):
        levels_CK = cells_CK[start:end, 1:]
        yield _Cluster(
            levels_CK=levels_CK,
            counts_C=counts_C[start:end],
            means_C=means_C[start:end],
            own_CT=np.ones((end - start, levels_CK.shape[1] - 1)),
        )


def _without_exchangeable(
    clusters: Iterable[_Cluster],
) -> tuple[list[_Cluster], tuple[Contrasts, ...]]:
    """The clusters, in large ones one level for all that could be exchanged, and the contrasts."""
    kept: list[_Cluster] = []
    sums: dict[bytes, Contrasts] = {}
    for cluster in clusters:
        if len(cluster.counts_C) <= MANY_CELLS:
            kept.append(cluster)
            continue
        ways = [_exchangeable(cluster, units_C) for units_C in _units(cluster)]
        alike = min(ways, key=lambda groups: sum(cells_UC.shape[1] for cells_UC in groups))
        parts = [_together(cluster, cells_UC) for cells_UC in alike]
        kept.append(_joined([standing for standing, _ in parts]))
        for _, found in parts:
            if found.df:
                key = found.covariance.same_TCC.tobytes() + found.covariance.shares_C.tobytes()
                sums[key] = _added(sums[key], found) if key in sums else found
    return kept, tuple(sums[key] for key in sorted(sums))


def _units(cluster: _Cluster) -> Iterator[_Codes]:
    """What may be exchanged: single cells, or the levels of a term."""
    yield np.arange(len(cluster.counts_C))
    yield from cluster.levels_CK[:, 1:].T


def _exchangeable(cluster: _Cluster, units_C: _Codes) -> list[NDArray[np.intp]]:
    """Cells of the units that could be exchanged with each other, (units, cells of one), in order.

    Units can be if their cells have the same fixed effects and rows, and of each term the same
    levels, or levels that no other unit has.
    """
    levels_CT = cluster.levels_CK[:, 1:]
    confined_CT = np.stack([_is_confined(column_C, units_C) for column_C in levels_CT.T], axis=1)
    profile_CK = np.column_stack(
        [cluster.levels_CK[:, 0], cluster.counts_C, np.where(confined_CT, -1, levels_CT)]
    )
    order = np.lexsort([*profile_CK.T[::-1], units_C])
    starts = np.flatnonzero(np.diff(units_C[order], prepend=-1))
    if len(starts) == len(order):  # each cell is a unit: there may be thousands
        return [order[units, None] for units in _equal_rows(profile_CK[order])]
    found: dict[tuple[bytes, ...], list[NDArray[np.intp]]] = {}
    for start, end in pairwise([*starts, len(order)]):
        cells = order[start:end]
        own = [
            np.unique(levels_CT[cells, term], return_inverse=True)[1].tobytes()
            for term in np.flatnonzero(confined_CT[cells[0]])
            if end - start > 1
        ]
        found.setdefault((profile_CK[cells].tobytes(), *own), []).append(cells)
    return [np.stack(found[key]) for key in sorted(found)]


def _equal_rows(rows_CK: _Codes) -> list[NDArray[np.intp]]:
    """Indices of the rows that are equal, in ascending order; groups by the bytes of their row."""
    width = rows_CK.dtype.itemsize * rows_CK.shape[1]
    bytes_C = np.ascontiguousarray(rows_CK).view(np.dtype((np.void, width)))[:, 0]
    _, codes_C = np.unique(bytes_C, return_inverse=True)
    order = np.argsort(codes_C, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes_C[order])) + 1)


def _is_confined(levels_C: _Codes, units_C: _Codes) -> NDArray[np.bool_]:
    """Whether no cell of another unit has the level of a cell."""
    levels, codes_C = np.unique(levels_C, return_inverse=True)
    codes_C = codes_C.reshape(-1)
    first_L = np.full(len(levels), -1)
    first_L[codes_C] = units_C
    is_elsewhere_L = np.bincount(codes_C, weights=units_C != first_L[codes_C]) > 0
    confined: NDArray[np.bool_] = ~is_elsewhere_L[codes_C]
    return confined


def _together(cluster: _Cluster, cells_UC: NDArray[np.intp]) -> tuple[_Cluster, Contrasts]:
    """Cells that stand for those of units that could be exchanged, and the contrasts of these."""
    num_units = len(cells_UC)
    first = cluster.taken(cells_UC[0])
    terms_CT = first.levels_CK[:, 1:]
    others_CT = cluster.levels_CK[cells_UC[-1], 1:]
    is_own_CT = (terms_CT != others_CT) if num_units > 1 else np.zeros(terms_CT.shape, np.bool_)
    means_UC = cluster.means_C[cells_UC]
    rest_UC = means_UC - means_UC.mean(axis=0)
    standing = _Cluster(
        levels_CK=first.levels_CK,
        counts_C=first.counts_C * num_units,
        means_C=means_UC.mean(axis=0),
        own_CT=np.where(is_own_CT, 1 / num_units, 1.0),
    )
    alone = replace(first, own_CT=is_own_CT.astype(np.float64))
    return standing, Contrasts(
        covariance=alone.covariance(), df=num_units - 1, squares_CC=rest_UC.T @ rest_UC
    )


def _joined(parts: Sequence[_Cluster]) -> _Cluster:
    return _Cluster(
        levels_CK=np.concatenate([part.levels_CK for part in parts]),
        counts_C=np.concatenate([part.counts_C for part in parts]),
        means_C=np.concatenate([part.means_C for part in parts]),
        own_CT=np.concatenate([part.own_CT for part in parts]),
    )


def _added(one: Contrasts, other: Contrasts) -> Contrasts:
    return replace(one, df=one.df + other.df, squares_CC=one.squares_CC + other.squares_CC)


def _patterns(clusters: Iterable[_Cluster], num_fixed: int) -> Iterator[Pattern]:
    found: dict[bytes, list[_Cluster]] = {}
    for cluster in clusters:
        local = _canonical(cluster.levels_CK, cluster.counts_C)
        order = np.lexsort([*local.T[::-1], -cluster.counts_C])
        ordered = replace(cluster, levels_CK=local).taken(order)
        key = ordered.levels_CK.tobytes() + b"|" + ordered.counts_C.tobytes()
        if (ordered.own_CT < 1).any():
            key += b"|" + ordered.own_CT.tobytes()
        found.setdefault(key, []).append(ordered)
    covariances: dict[bytes, Covariance] = {}
    for key in sorted(found):
        first = found[key][0]
        covariance = first.covariance()
        seen = covariance.same_TCC.tobytes() + covariance.shares_C.tobytes()
        yield Pattern(
            covariance=covariances.setdefault(seen, covariance),
            fixed_CP=np.eye(num_fixed)[first.levels_CK[:, 0]],
            means_CM=np.stack([cluster.means_C for cluster in found[key]], axis=1),
        )


def _canonical(columns_CK: _Codes, counts_C: NDArray[np.intp]) -> _Codes:
    """Levels numbered by their rows, most first, so that like designs look alike."""
    found = columns_CK.copy()
    for column in range(1, columns_CK.shape[1]):
        levels, codes = np.unique(columns_CK[:, column], return_inverse=True)
        rows = np.bincount(codes.reshape(-1), weights=counts_C)
        rank = np.empty(len(levels), dtype=np.int64)
        rank[np.lexsort([levels, -rows])] = np.arange(len(levels))
        found[:, column] = rank[codes.reshape(-1)]
    return found

"""The rows of a mixed model as sufficient statistics, clusters of one design together.

N rows, C cells of a cluster, M clusters of one design, P fixed effects, L levels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Covariance:
    """What the covariance of a cluster follows from, whatever its fixed effects.

    ``same_TCC`` says which cells share a level of each term, ``shares_C`` is 1 over the rows of a
    cell.
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
class Design:
    """A mixed model's data.

    Attributes:
        patterns: all clusters, grouped by their design.
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
    return Design(
        patterns=tuple(_patterns(cells_CK, counts_C, means_C, num_fixed)),
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
    texts = np.array([str(label) for label in labels], dtype=object)
    if not len(texts):
        return np.zeros(0, dtype=np.int64)
    return np.unique(texts.astype(str), return_inverse=True)[1].reshape(-1).astype(np.int64)


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


def _patterns(
    cells_CK: _Codes, counts_C: NDArray[np.intp], means_C: _Floats, num_fixed: int
) -> Iterator[Pattern]:
    found: dict[bytes, list[tuple[_Codes, NDArray[np.intp], _Floats]]] = {}
    for cluster in np.unique(cells_CK[:, 0]):
        rows = np.flatnonzero(cells_CK[:, 0] == cluster)
        local = _canonical(cells_CK[rows, 1:], counts_C[rows])
        order = np.lexsort([*local.T[::-1], -counts_C[rows]])
        design = local[order], counts_C[rows][order], means_C[rows][order]
        key = design[0].tobytes() + b"|" + design[1].tobytes()
        found.setdefault(key, []).append(design)
    covariances: dict[bytes, Covariance] = {}
    for key in sorted(found):
        local, counts, _ = found[key][0]
        terms_TC = local[:, 1:].T
        covariance = Covariance(
            same_TCC=(terms_TC[:, :, None] == terms_TC[:, None, :]).astype(np.float64),
            shares_C=1.0 / counts,
        )
        seen = covariance.same_TCC.tobytes() + covariance.shares_C.tobytes()
        yield Pattern(
            covariance=covariances.setdefault(seen, covariance),
            fixed_CP=np.eye(num_fixed)[local[:, 0]],
            means_CM=np.stack([means for _, _, means in found[key]], axis=1),
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

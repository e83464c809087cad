"""Variance components by the method of moments, of balanced and unbalanced designs.

N rows, F fixed effects, L levels of a term, T terms and the residual.

    y = X b + sum over terms t of Z_t u_t + e,   var(u_t) = v_t,   var(e) = v_e

Scores are taken from the mean of their fixed effect. The sum of squares between the levels of each
term, and the total one, are set equal to their expectations, which are linear in the variances.
In a balanced design the solution is that of the analysis of variance. In an unbalanced one it is
unbiased as well, for any distribution, but other estimators scatter less. A term whose estimate is
negative is taken for 0, and the others are estimated without it.

Source: Henderson 1953, method I, after fixed effects were taken out; Searle, Casella and McCulloch
1992, chapter 5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

RESIDUAL = "residual"
_NOTHING = 1e-9  # a component below this share of the total variance is rounding
_Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceMoments:
    """Estimates of the identifiable terms, in squared units of the score.

    Attributes:
        variances: name of a term, or ``residual`` -> its variance, at least 0.
        negative: names of those whose estimate is below 0, so that 0 is given.
        num_levels: number of levels of each of them; of the residual, rows minus other levels.
        merged: term -> the term, or ``residual``, that it cannot be distinguished from; empty text
            of a term with one level, or with those of the fixed effects.
    """

    variances: Mapping[str, float]
    negative: frozenset[str]
    num_levels: Mapping[str, int]
    merged: Mapping[str, str]


def variance_moments(
    scores: pl.DataFrame,
    *,
    fixed: str,
    terms: Mapping[str, Sequence[str]],
    residual: tuple[float, int] | None = None,
) -> VarianceMoments | None:
    """Variance components of the column ``score``.

    A term is estimated if it has two levels or more and groups the rows otherwise than the fixed
    effects, the terms before it and the residual do.

    Args:
        scores: one row per score, all finite.
        fixed: column of the fixed effect.
        terms: name of a random term -> columns that together name a level of it.
        residual: variance of the residual and its degrees of freedom, if both are known from
            elsewhere; None estimates it from these rows.

    Returns:
        None with fewer rows than fixed effects + 1.
    """
    of_fixed = _codes(scores, [fixed])
    if scores.height <= of_fixed.max(initial=-1) + 1:
        return None
    codes = {name: _codes(scores, columns) for name, columns in terms.items()}
    merged = _merged(codes, of_fixed, is_residual_known=residual is not None)
    kept = {name: of_term for name, of_term in codes.items() if name not in merged}
    columns = {fixed, *(column for name in kept for column in terms[name])}
    num_levels = {name: int(of_term.max()) + 1 for name, of_term in kept.items()}
    num_cells = scores.select(columns).n_unique()
    num_levels[RESIDUAL] = residual[1] if residual else scores.height - num_cells or scores.height
    kept[RESIDUAL] = np.arange(scores.height)
    score_N = scores["score"].to_numpy()
    rest_N = score_N - (np.bincount(of_fixed, score_N) / np.bincount(of_fixed))[of_fixed]
    sums_T = np.array(  # of squares between the levels of a term, r' Z (Z'Z)^-1 Z' r
        [(np.bincount(of, rest_N) ** 2 / np.bincount(of)).sum() for of in kept.values()]
    )
    factors_TT = np.array(
        [[_factor(one, other, of_fixed) for other in kept.values()] for one in kept.values()]
    )
    known = {} if residual is None else {RESIDUAL: residual[0]}
    least = -_NOTHING * float(sums_T[-1]) / scores.height
    variances, negative = _solved(tuple(kept), factors_TT, sums_T, known, least)
    return VarianceMoments(
        variances=variances, negative=negative, num_levels=num_levels, merged=merged
    )


def _solved(
    names: Sequence[str],
    factors_TT: NDArray[np.float64],
    sums_T: NDArray[np.float64],
    known: Mapping[str, float],
    least: float,
) -> tuple[dict[str, float], frozenset[str]]:
    """The variance of each term, and which are below ``least``: taken for 0, the others anew."""
    right_T = sums_T - sum(
        factors_TT[:, names.index(name)] * value for name, value in known.items()
    )
    variances = {**dict.fromkeys(names, 0.0), **known}
    unknown = [number for number, name in enumerate(names) if name not in known]
    negative: set[str] = set()
    while unknown:
        square = factors_TT[np.ix_(unknown, unknown)]
        found = np.linalg.lstsq(square, right_T[unknown], rcond=None)[0]
        lowest = int(found.argmin())
        if found[lowest] >= least:
            variances |= {
                names[t]: max(0.0, float(v)) for t, v in zip(unknown, found, strict=True)
            }
            break
        negative.add(names[unknown.pop(lowest)])
    return variances, frozenset(negative)


def pooled_variance(scores: pl.DataFrame, cell: Sequence[str]) -> tuple[float, int] | None:
    """Variance of ``score`` within cells and its degrees of freedom; None with single scores."""
    around = (pl.col("score") - pl.col("score").mean().over(cell)) ** 2
    freedom = scores.height - scores.select(cell).n_unique()
    return (float(scores.select(around.sum()).item()) / freedom, freedom) if freedom else None


def _codes(scores: pl.DataFrame, columns: Sequence[str]) -> _Codes:
    """The level of each row, numbered from 0."""
    level = pl.concat_str(columns, separator="\0")
    return scores.select(level.rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def _merged(
    codes: Mapping[str, _Codes], of_fixed: _Codes, *, is_residual_known: bool
) -> dict[str, str]:
    """What the terms that are not identifiable are confounded with."""
    kept: dict[str, _Codes] = {}
    merged: dict[str, str] = {}
    for name, of_term in codes.items():
        num_levels = int(of_term.max()) + 1
        same = [
            other
            for other, of_other in kept.items()
            if int(of_other.max()) + 1 == num_levels == len(_pairs(of_term, of_other)[0])
        ]
        if num_levels < 2 or len(_pairs(of_fixed, of_term)[0]) == of_fixed.max() + 1:
            merged[name] = ""
        elif same:
            merged[name] = same[0]
        elif num_levels == len(of_term) and not is_residual_known:
            merged[name] = RESIDUAL
        else:
            kept[name] = of_term
    return merged


def _pairs(first: _Codes, second: _Codes) -> tuple[_Codes, _Codes, _Codes]:
    """Levels of the first and of the second that rows share, and how many rows share them."""
    width = int(second.max()) + 1
    pairs, counts = np.unique(first * width + second, return_counts=True)
    return pairs // width, pairs % width, counts


def _factor(one: _Codes, other: _Codes, of_fixed: _Codes) -> float:
    """What one unit of variance of the other term adds to the expected sum of squares of one.

    It is the sum of the squares of (Z'Z)^-1/2 Z' P W, with Z of the one, W of the other term and
    P taking rows from the mean of their fixed effect. Z' P W is a table of counts, mostly 0, minus
    a product over the fixed effects, so no matrix of levels by levels is made.
    """
    sizes = np.bincount(one)
    row, column, counts = _pairs(one, other)
    ours_LF, theirs_LF = _table(one, of_fixed), _table(other, of_fixed)
    theirs_LF = theirs_LF / np.bincount(of_fixed)
    expected = (ours_LF[row] * theirs_LF[column]).sum(axis=1)
    squares_FF = (ours_LF.T / sizes) @ ours_LF
    both = float((counts * (counts - 2 * expected) / sizes[row]).sum())
    return both + float((squares_FF * (theirs_LF.T @ theirs_LF)).sum())


def _table(of_term: _Codes, of_fixed: _Codes) -> NDArray[np.float64]:
    """How many rows of each level have each fixed effect, (L, F)."""
    row, column, counts = _pairs(of_term, of_fixed)
    table_LF = np.zeros((row.max() + 1, of_fixed.max() + 1))
    table_LF[row, column] = counts
    return table_LF

"""Variance components by restricted maximum likelihood (REML), also of unbalanced designs.

N rows, P fixed effects, C rows of a cluster, M clusters of one design, T random terms.

    y = X b + sum over terms t of Z_t u_t + e,   u_t ~ N(0, v_t),  e ~ N(0, v_e)

Each random effect belongs to one cluster (a block of a study), so the covariance is block
diagonal, and clusters of one design share its inverse. Rows that differ in nothing but the
residual enter as their mean and their sum of squares, which loses nothing. In a balanced design
whose estimates are all above 0, REML equals the estimates of the analysis of variance.

Source: Patterson and Thompson 1971; the likelihood is that of Searle, Casella and McCulloch 1992,
chapter 6, the intervals are of its profile.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.reml_design import Contrasts, Covariance, Design, Pattern, design_of

RESIDUAL = "residual"
_CUT_95 = 3.841458820694124  # the 95 % quantile of chi-square with one degree of freedom
_LEAST = 1e-7  # of the residual, in units of the rows' variance: none would divide by 0
_NOTHING = 1e-6  # components below this share of the rows' variance are 0
_TOLERANCE = 1e-10  # relative, of the deviance
_PROFILE_TOLERANCE = 1e-8
_MOST_STEPS = 30
_STEP = 0.7  # of the logarithm, when looking for an end
_SHIFT = 1e-3  # added to components, whose logarithm is taken
_ROOT_TOLERANCE = 4e-3
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One variance, in squared units of the score.

    Attributes:
        variance: estimate, at least 0.
        low: lower end of the 95 % profile interval; None where nothing varies.
        high: upper end of the interval; None also where the data set no bound.
        num_levels: number of levels of the factor; for the residual, rows minus other levels.
        is_truncated: whether the likelihood is largest below 0, so that 0 is given.
    """

    variance: float
    low: float | None
    high: float | None
    num_levels: int
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RemlFit:
    """Estimates of the identifiable terms, and what the other terms are confounded with.

    Attributes:
        components: name of a term, or ``residual`` -> its variance component.
        merged: term -> the term it is the same as in this design, or ``residual``; or, of a term
            with one level in each cluster and one cluster, an empty text.
    """

    components: Mapping[str, Component]
    merged: Mapping[str, str]


def fit_reml(
    scores_N: Sequence[float] | _Floats,
    *,
    fixed_N: Sequence[object],
    clusters_N: Sequence[object],
    terms: Mapping[str, Sequence[object]],
    with_intervals: bool = True,
) -> RemlFit | None:
    """Variance components of finite scores.

    A term is estimated if it has two levels or more and groups the rows otherwise than the fixed
    effects, the terms before it and the residual do.

    Args:
        scores_N: finite scores; rows without a score are left out before.
        fixed_N: level of the fixed effect of each row.
        clusters_N: cluster of each row; no level of a term is in two clusters (a level is the pair
            of cluster and label).
        terms: name of a random term -> level of each row.
        with_intervals: whether to compute profile intervals, which take most of the time.

    Returns:
        None with fewer rows than fixed effects + 1. All components are 0, without an interval, if
        the scores do not vary beyond the fixed effects.

    Raises:
        ValueError: a score is not finite, or lengths differ.
    """
    scores = np.asarray(scores_N, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    design = design_of(scores, fixed_N, clusters_N, terms)
    if design.num_rows <= design.num_fixed:
        return None
    if design.scale == 0:
        flat = {name: _flat(num) for name, num in design.num_levels.items()}
        return RemlFit(components=flat, merged=design.merged)
    deviance = _remembered(design)
    best_T, value = _minimum(deviance, _start(design), {})
    gradient_T = deviance(best_T)[1]
    components = {}
    for number, (name, num_levels) in enumerate(design.num_levels.items()):
        is_zero = best_T[number] <= _NOTHING
        low, high = _profile(deviance, best_T, value, number) if with_intervals else (None, None)
        components[name] = Component(
            variance=0.0 if is_zero else float(best_T[number]) * design.scale,
            low=None if low is None else low * design.scale,
            high=None if high is None else high * design.scale,
            num_levels=num_levels,
            is_truncated=bool(is_zero and gradient_T[number] > 0),
        )
    return RemlFit(components=components, merged=design.merged)


def _flat(num_levels: int) -> Component:
    return Component(variance=0.0, low=None, high=None, num_levels=num_levels, is_truncated=False)


def _start(design: Design) -> _Floats:
    num = len(design.num_levels)
    return np.full(num, 1.0 / num)


_Deviance = Callable[[_Floats], tuple[float, _Floats]]


def _remembered(design: Design) -> _Deviance:
    """`_deviance` of the design, each only once: ends of profiles are looked for around others."""
    found: dict[bytes, tuple[float, _Floats]] = {}

    def deviance(components_T: _Floats) -> tuple[float, _Floats]:
        key = components_T.tobytes()
        if key not in found:
            found[key] = _deviance(design, components_T)
        value, gradient_T = found[key]
        return value, gradient_T.copy()

    return deviance


def _minimum(
    deviance: _Deviance,
    start_T: _Floats,
    held: Mapping[int, float],
    tolerance: float = _TOLERANCE,
) -> tuple[_Floats, float]:
    """The components of least deviance, those of ``held`` given; the residual comes last."""
    from scipy.optimize import minimize

    num = len(start_T)
    free = [number for number in range(num) if number not in held]
    whole_T = start_T.copy()
    for number, value in held.items():
        whole_T[number] = value

    def free_deviance(values: _Floats) -> tuple[float, _Floats]:
        trial_T = whole_T.copy()
        trial_T[free] = values
        found, gradient_T = deviance(trial_T)
        return found, gradient_T[free]

    if not free:
        return whole_T, deviance(whole_T)[0]
    bounds = [(_LEAST if number == num - 1 else 0.0, None) for number in free]
    found = minimize(
        free_deviance,
        np.maximum(whole_T[free], 1e-3),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": tolerance, "gtol": 1e-7, "maxiter": 500},
    )
    whole_T[free] = found.x
    return whole_T, float(found.fun)


def _profile(
    deviance: _Deviance, best_T: _Floats, value: float, number: int
) -> tuple[float | None, float | None]:
    """Where the deviance, least over the other components, is 3.84 above its minimum.

    Its root is nearly a line in the logarithm of the component, so the ends are sought there.
    """
    from scipy.optimize import brentq

    nearest = [best_T]

    def high(values_T: _Floats) -> float:
        return deviance(values_T)[0]

    def above(log_component: float) -> float:
        held = max(math.exp(log_component) - _SHIFT, least)
        # From the far end of a profile the minimum may not be found: start where it is lower.
        start_T = min((_with(start_T, number, held) for start_T in (nearest[0], best_T)), key=high)
        nearest[0], found = _minimum(deviance, start_T, {number: held}, _PROFILE_TOLERANCE)
        return math.sqrt(max(found - value, 0.0)) - math.sqrt(_CUT_95)

    least = _LEAST if number == len(best_T) - 1 else 0.0
    estimate, bottom = (math.log(max(v, least) + _SHIFT) for v in (float(best_T[number]), least))
    low = 0.0
    if estimate > bottom and above(bottom) > 0:
        low = math.exp(brentq(above, bottom, estimate, xtol=_ROOT_TOLERANCE)) - _SHIFT
    nearest[0] = best_T
    inside, outside = estimate, estimate + _STEP
    for _ in range(_MOST_STEPS):
        if above(outside) > 0:
            return low, math.exp(brentq(above, inside, outside, xtol=_ROOT_TOLERANCE)) - _SHIFT
        inside, outside = outside, outside + 2 * _STEP
    return low, None


def _with(values_T: _Floats, number: int, value: float) -> _Floats:
    changed_T = values_T.copy()
    changed_T[number] = value
    return changed_T


def _deviance(design: Design, components_T: _Floats) -> tuple[float, _Floats]:
    """Minus twice the restricted log likelihood, up to a constant, and its gradient (T,).

    With V the covariance and P = V^-1 - V^-1 X (X' V^-1 X)^-1 X' V^-1 it is

        log|V| + log|X' V^-1 X| + y' P y,   derivative tr(P G) - y' P G P y for V = ... + v G.

    Args:
        design: scaled design of the model.
        components_T: variance components, at least 0; the residual comes last and is above 0.
    """
    covariances = dict.fromkeys(pattern.covariance for pattern in design.patterns)
    inverses = {item: _Inverse(item, components_T) for item in covariances}
    parts = [_Part(pattern, inverses[pattern.covariance]) for pattern in design.patterns]
    information_PP = np.sum([part.num * part.information_PP for part in parts], axis=0)
    right_P = np.sum([part.right_P for part in parts], axis=0)
    residual = float(components_T[-1])
    covariance_PP: _Floats = np.linalg.inv(information_PP)
    effects_P = covariance_PP @ right_P
    value = float(np.linalg.slogdet(information_PP)[1])
    value += design.within_df * np.log(residual) + design.within / residual
    gradient_T = np.zeros(len(components_T))
    gradient_T[-1] = design.within_df / residual - design.within / residual**2
    for part in parts:
        value += part.add(effects_P, covariance_PP, gradient_T)
    for contrasts in design.contrasts:
        value += _add_contrasts(contrasts, components_T, gradient_T)
    return value, gradient_T


def _add_contrasts(contrasts: Contrasts, components_T: _Floats, gradient_T: _Floats) -> float:
    """Adds df log|V| + tr(V^-1 S) to the deviance: the gradient in place, the value returned."""
    inverse = _Inverse(contrasts.covariance, components_T)
    pulled_CC = inverse.inverse_CC @ contrasts.squares_CC
    pairs_CC = contrasts.df * inverse.inverse_CC - pulled_CC @ inverse.inverse_CC
    same_TCC = contrasts.covariance.same_TCC
    gradient_T[:-1] += same_TCC.reshape(-1, pairs_CC.size) @ pairs_CC.ravel()
    gradient_T[-1] += float(np.diag(pairs_CC) @ contrasts.covariance.shares_C)
    return contrasts.df * inverse.log_determinant + float(np.trace(pulled_CC))


class _Inverse:
    """V^-1 of the clusters of one covariance, and log|V|."""

    def __init__(self, covariance: Covariance, components_T: _Floats) -> None:
        num_cells = len(covariance.shares_C)
        same = covariance.same_TCC.reshape(-1, num_cells**2)
        covariance_CC = (components_T[:-1] @ same).reshape(num_cells, num_cells)
        covariance_CC.flat[:: num_cells + 1] += components_T[-1] * covariance.shares_C
        self.inverse_CC: _Floats = np.asarray(np.linalg.inv(covariance_CC), dtype=np.float64)
        self.log_determinant = float(np.linalg.slogdet(covariance_CC)[1])


class _Part:
    """What the clusters of one design add: X' V^-1 X and X' V^-1 y."""

    def __init__(self, pattern: Pattern, inverse: _Inverse) -> None:
        self._pattern = pattern
        self._inverse = inverse
        self.num = int(pattern.means_CM.shape[1])
        self._weighed_CP: _Floats = inverse.inverse_CC @ pattern.fixed_CP
        self.information_PP: _Floats = pattern.fixed_CP.T @ self._weighed_CP
        self.right_P: _Floats = self._weighed_CP.T @ pattern.means_CM.sum(axis=1)

    def add(self, effects_P: _Floats, covariance_PP: _Floats, gradient_T: _Floats) -> float:
        """Adds to the gradient in place; returns what is added to the deviance."""
        pattern, inverse_CC = self._pattern, self._inverse.inverse_CC
        same_TCC = pattern.covariance.same_TCC
        rest_CM = pattern.means_CM - (pattern.fixed_CP @ effects_P)[:, None]
        pulled_CM = inverse_CC @ rest_CM
        # Of the fixed effects: tr((X' V^-1 X)^-1 X' V^-1 G V^-1 X), as a sum over pairs of cells.
        fixed_CC = self._weighed_CP @ covariance_PP @ self._weighed_CP.T
        pairs_CC = self.num * (inverse_CC - fixed_CC) - pulled_CM @ pulled_CM.T
        gradient_T[:-1] += same_TCC.reshape(-1, pairs_CC.size) @ pairs_CC.ravel()
        gradient_T[-1] += float(np.diag(pairs_CC) @ pattern.covariance.shares_C)
        squares = float((rest_CM * pulled_CM).sum())
        return float(self.num * self._inverse.log_determinant) + squares

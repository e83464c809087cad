"""The restricted likelihood of a mixed model and its gradient, cluster by cluster.

T components, the residual last; C cells of a cluster, M clusters of one design, P fixed effects.
"""

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.reml_design import Design, Pattern

__all__ = ["deviance"]

_Floats = NDArray[np.float64]


def deviance(design: Design, components_T: _Floats) -> tuple[float, _Floats]:
    """Minus twice the restricted log likelihood, up to a constant, and its gradient (T,).

    With V the covariance and P = V^-1 - V^-1 X (X' V^-1 X)^-1 X' V^-1 it is

        log|V| + log|X' V^-1 X| + y' P y,   derivative tr(P G) - y' P G P y for V = ... + v G.

    Args:
        design: of the model, scaled.
        components_T: at least 0, the residual above 0.
    """
    parts = [_Inverse(pattern, components_T) for pattern in design.patterns]
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
    return value, gradient_T


class _Inverse:
    """What the clusters of one design add: V^-1, X' V^-1 X and X' V^-1 y."""

    def __init__(self, pattern: Pattern, components_T: _Floats) -> None:
        self._pattern = pattern
        self.num = int(pattern.means_CM.shape[1])
        num_cells = len(pattern.shares_C)
        covariance_CC = (components_T[:-1] @ pattern.same_TCC.reshape(-1, num_cells**2)).reshape(
            num_cells, num_cells
        )
        covariance_CC.flat[:: num_cells + 1] += components_T[-1] * pattern.shares_C
        self._inverse_CC: _Floats = np.asarray(np.linalg.inv(covariance_CC), dtype=np.float64)
        self._log_determinant = float(np.linalg.slogdet(covariance_CC)[1])
        self._weighed_CP: _Floats = self._inverse_CC @ pattern.fixed_CP
        self.information_PP: _Floats = pattern.fixed_CP.T @ self._weighed_CP
        self.right_P: _Floats = self._weighed_CP.T @ pattern.means_CM.sum(axis=1)

    def add(self, effects_P: _Floats, covariance_PP: _Floats, gradient_T: _Floats) -> float:
        """Adds to the gradient in place; returns what is added to the deviance."""
        pattern = self._pattern
        rest_CM = pattern.means_CM - (pattern.fixed_CP @ effects_P)[:, None]
        pulled_CM = self._inverse_CC @ rest_CM
        # Of the fixed effects: tr((X' V^-1 X)^-1 X' V^-1 G V^-1 X), as a sum over pairs of cells.
        fixed_CC = self._weighed_CP @ covariance_PP @ self._weighed_CP.T
        pairs_CC = self.num * (self._inverse_CC - fixed_CC) - pulled_CM @ pulled_CM.T
        gradient_T[:-1] += pattern.same_TCC.reshape(-1, pairs_CC.size) @ pairs_CC.ravel()
        gradient_T[-1] += float(np.diag(pairs_CC) @ pattern.shares_C)
        squares = float((rest_CM * pulled_CM).sum())
        return float(self.num * self._log_determinant) + squares

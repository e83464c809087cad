"""Do two scores order the same things alike?"""

from collections.abc import Sequence

import numpy as np


def kendall_tau(x: Sequence[float], y: Sequence[float]) -> float:
    """Kendall's tau-b in [-1, 1]: ties in either score belong to neither order.

    NaN with fewer than two pairs, or where one score is constant. Source: Kendall 1945.

    Args:
        x: finite scores.
        y: finite scores of the same items, in the same order.
    """
    signs_x = _signs(x)
    signs_y = _signs(y)
    scale = np.sqrt(float((signs_x**2).sum()) * float((signs_y**2).sum()))
    return float((signs_x * signs_y).sum() / scale) if scale > 0 else float("nan")


def _signs(values: Sequence[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    array = np.asarray(values, dtype=np.float64)
    return np.sign(array[:, None] - array[None, :])

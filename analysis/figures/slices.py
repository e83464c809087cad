"""The score along one hyperparameter: configs as dots, and the response curve with its band."""

import numpy as np
from numpy.typing import NDArray

from analysis.figures.configs import config_values
from analysis.figures.plot import Plot, rounded
from analysis.figures.searched_axis import along, short_gains
from analysis.hyperparameters.best_regions import BestRange, BestRegion
from analysis.hyperparameters.pooled_configs import PooledConfigs
from analysis.hyperparameters.response_curves import ResponseCurve


def slice_plot(
    found: ResponseCurve,
    pooled: PooledConfigs,
    shown: NDArray[np.intp],
    *,
    gain_range: tuple[float, float],
    region: BestRegion,
    name: str,
) -> Plot:
    """The plot of one hyperparameter on its own scale.

    Args:
        found: medians of the gains in bins; bins of few configs are missing and leave gaps.
        pooled: configs of one loss.
        shown: indices of the configs that are drawn.
        gain_range: ends of the y axis, the same for all hyperparameters of a loss; configs below
            it are not drawn.
        region: where the best configs lie along it.
        name: name of the plot, unique within the page.
    """
    searched = found.searched
    drawn = shown[
        (pooled.gains_N[shown] >= gain_range[0])
        & ~np.isnan(pooled.positions[searched.name][shown])
    ]
    ends = [np.array([getattr(one, end) for one in found.bins]) for end in ("left", "right")]
    if not searched.is_choice:
        ends = [np.clip(end, 0, 1) for end in ends]
    left, right = (
        along(searched, end, is_relative=searched.name in pooled.relative) for end in ends
    )
    return Plot(
        kind="slices",
        name=name,
        title=f"Score along {searched.name} of {pooled.loss}",
        description="Dots are configs in points above the median config of their search; the line"
        " has medians of bins, the band their 95 % intervals. The numbers are in the table after"
        " the figure.",
        values={
            **config_values(pooled, [searched.name], drawn),
            "gain_range": short_gains(gain_range),
            "region": _ends(region),
            "curve": {
                "left": left,
                "right": right,
                **{
                    field: short_gains(getattr(one, field) for one in found.bins)
                    for field in ("median", "low", "high")
                },
                "count": [one.count for one in found.bins],
            },
        },
    )


def _ends(region: BestRegion) -> list[float | None] | None:
    best = region.best
    return [rounded(best.low), rounded(best.high)] if isinstance(best, BestRange) else None

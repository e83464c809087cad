"""Parallel coordinates: a line for each config across its hyperparameters, up to its score."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.figures.configs import config_values
from analysis.figures.plot import Plot
from analysis.figures.searched_axis import short_gains
from analysis.hyperparameters.pooled_configs import PooledConfigs


def parallel_plot(
    pooled: PooledConfigs,
    hyperparameters: Sequence[str],
    shown: NDArray[np.intp],
    *,
    gain_range: tuple[float, float],
    name: str,
) -> Plot:
    """The plot: an axis for each hyperparameter on its own scale, and one for the score.

    Args:
        pooled: configs of one loss.
        hyperparameters: their names, from the left.
        shown: indices of the configs that are drawn.
        gain_range: ends of the axis of the score; worse configs end at its lower end.
        name: name of the plot, unique within the page.
    """
    return Plot(
        kind="parallel",
        name=name,
        title=f"Configs of {pooled.loss} across their hyperparameters",
        description="One line for each config, in stronger colour the better it is; the last axis"
        " is the score. Where the best configs lie is in the table of best regions.",
        values={
            **config_values(pooled, hyperparameters, shown),
            "gain_range": short_gains(gain_range),
        },
    )

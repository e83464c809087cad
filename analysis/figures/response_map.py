"""The score over two hyperparameters: medians of cells, blank where there are few configs."""

import numpy as np
from numpy.typing import NDArray

from analysis.figures.configs import config_values
from analysis.figures.plot import Plot
from analysis.figures.searched_axis import along, short_gains
from analysis.hyperparameters.pooled_configs import PooledConfigs
from analysis.hyperparameters.response_curves import ResponseGrid
from analysis.hyperparameters.searched_ranges import SearchedRange


def response_map_plot(
    cells: ResponseGrid, pooled: PooledConfigs, shown: NDArray[np.intp], *, name: str
) -> Plot:
    """The plot: cells coloured by their median, and configs as dots.

    Args:
        cells: median gains in points.
        pooled: configs of one loss.
        shown: indices of the configs that are drawn, where they have both hyperparameters.
        name: name of the plot, unique within the page.
    """
    x, y = cells.x.name, cells.y.name
    both_N = ~np.isnan(pooled.positions[x]) & ~np.isnan(pooled.positions[y])
    known = [
        (row, column)
        for row, column in np.ndindex(cells.medians_YX.shape)
        if np.isfinite(cells.medians_YX[row, column])
    ]
    x_edges, y_edges = (
        _edges(searched, edges, is_relative=searched.name in pooled.relative)
        for searched, edges in ((cells.x, cells.x_edges), (cells.y, cells.y_edges))
    )
    return Plot(
        kind="response_map",
        name=name,
        title=f"Score of {pooled.loss} over {x} and {y}",
        description="Cells are coloured by the median gain over the median config; blank cells"
        " hold fewer than 3 configs. Dots are configs. The numbers are in the table after the"
        " figure.",
        values={
            **config_values(pooled, [x, y], shown[both_N[shown]]),
            "cells": {
                "x1": [x_edges[column] for _, column in known],
                "x2": [x_edges[column + 1] for _, column in known],
                "y1": [y_edges[row] for row, _ in known],
                "y2": [y_edges[row + 1] for row, _ in known],
                "median": short_gains(float(cells.medians_YX[cell]) for cell in known),
                "count": [int(cells.counts_YX[cell]) for cell in known],
            },
        },
    )


def _edges(
    searched: SearchedRange, edges: NDArray[np.float64], *, is_relative: bool
) -> list[float | None]:
    inside = edges if searched.is_choice else np.clip(edges, 0, 1)
    return along(searched, inside, is_relative=is_relative)

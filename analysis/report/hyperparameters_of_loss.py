"""The hyperparameters of one loss: response curves, a map of two, all configs, best region."""

import numpy as np
from numpy.typing import NDArray

from analysis.figures.parallel_configs import draw_parallel
from analysis.figures.response_map import draw_response_map
from analysis.figures.response_panels import draw_response
from analysis.figures.series import Series
from analysis.hyperparameters.best_regions import BestRange, BestRegion, RangeEnd
from analysis.hyperparameters.findings_text import region_text
from analysis.hyperparameters.pooled_configs import PooledConfigs
from analysis.hyperparameters.response_curves import (
    ResponseCurve,
    ResponseGrid,
    response_curve,
    response_grid,
)
from analysis.hyperparameters.searched_ranges import SearchedRange, searched_range_text, value_text
from analysis.hyperparameters.tuned_hyperparameters import Role, TunedHyperparameters
from analysis.page.html_page import Cell, Column, Illustration, Part, Table
from analysis.wording import MISSING, counted, percent, range_of

_MOST_POINTS = 160
_MOST_LINES = 80
_MOST_DOTS = 40
_LOWEST = 0.05  # of the configs may lie below a panel


def loss_parts(
    tuned: TunedHyperparameters, loss: str, series: Series, *, position: int
) -> tuple[Part, ...]:
    """Figures and tables of one loss.

    Args:
        tuned: hyperparameters of the study's losses.
        loss: name of a loss with pooled configs.
        series: look of the loss.
        position: position of the loss among all, for the names of figures.
    """
    pooled = tuned.pooled[loss]
    if not pooled.ranges:
        return ()
    ranked = tuned.importances.filter(loss=loss)["hyperparameter"].to_list()
    names = [name for name in ranked if name in pooled.ranges]
    parts: list[Part] = [_curves(pooled, names, series, position, tuned.role)]
    if len(names) > 1:
        cells = response_grid(pooled, names[0], names[1])
        if np.isfinite(cells.medians_YX).any():
            parts.append(_map(pooled, cells, series, position))
        parts.append(_parallel(pooled, names, tuned.regions[loss], series, position))
    else:
        parts.append(_region_table(tuned.regions[loss], pooled, position))
    return tuple(parts)


def _over(pooled: PooledConfigs) -> str:
    return f"{counted(pooled.num_configs, 'config')} in {counted(pooled.num_blocks, 'block')}"


def _curves(
    pooled: PooledConfigs, names: list[str], series: Series, position: int, role: Role
) -> Illustration:
    found = [response_curve(pooled, name) for name in names]
    low, high = np.quantile(pooled.gains_N, [_LOWEST, 1])
    room = 0.06 * max(high - low, 1e-6)
    shows_points = pooled.num_configs <= _MOST_POINTS
    plots = [
        draw_response(
            one,
            points=_points(pooled, name) if shows_points else (),
            gain_range=(float(low - room), float(high + room)),
            is_relative=name in pooled.relative,
            series=series,
            name=f"slice-{position}-{column}",
        )
        for column, (name, one) in enumerate(zip(names, found, strict=True))
    ]
    unit = "block" if pooled.num_blocks >= 5 else "config"
    dots = " Dots are configs." if shows_points else ""
    return Illustration(
        name=f"slices-{position}",
        plots=tuple(plots),
        caption=f"{series.name}: {role} score along each hyperparameter on its own scale,"
        " most important first, in points above the median config of its search. Thick: median of"
        f" the configs in a bin, with its 95 % bootstrap interval over {unit}s; shaded: their"
        f" quartiles.{dots} The worst twentieth lies below the panels. {_over(pooled)}; other"
        " hyperparameters vary along.",
        table=_curve_table(names, found, pooled, position, series.name),
    )


def _points(pooled: PooledConfigs, name: str) -> list[tuple[float, float]]:
    exists_N = ~np.isnan(pooled.positions[name])
    return list(
        zip(
            pooled.positions[name][exists_N].tolist(),
            pooled.gains_N[exists_N].tolist(),
            strict=True,
        )
    )


def _curve_table(
    names: list[str], found: list[ResponseCurve], pooled: PooledConfigs, position: int, loss: str
) -> Table:
    lines = tuple(
        (
            Cell.word(name),
            Cell(text=_bin_text(one.searched, bin_.left, bin_.right, name in pooled.relative)),
            Cell.signed(bin_.median),
            Cell(text=range_of(bin_.low, bin_.high)),
            Cell(text=range_of(bin_.first, bin_.third)),
            Cell.count(bin_.count),
        )
        for name, one in zip(names, found, strict=True)
        for bin_ in one.bins
    )
    return Table(
        name=f"slices-{position}-table",
        caption=f"{loss}: points above the median config, by bins of each hyperparameter; bins of"
        " fewer than 3 configs left out",
        columns=(
            *Column.texts("Hyperparameter", "Values"),
            *Column.numbers("Median", "95 % interval", "Quartiles", "Configs"),
        ),
        rows=lines,
    )


def _bin_text(searched: SearchedRange, left: float, right: float, is_relative: bool) -> str:
    if searched.is_choice:
        return value_text(searched.values[round((left + right) / 2)])
    left, right = max(0.0, left), min(1.0, right)
    if is_relative:
        return f"{percent(left)} to {percent(right)} of its range"
    return f"{value_text(searched.value_at(left))} to {value_text(searched.value_at(right))}"


def _map(
    pooled: PooledConfigs, cells: ResponseGrid, series: Series, position: int
) -> Illustration:
    x, y = cells.x.name, cells.y.name
    best_N = pooled.is_best_N & ~np.isnan(pooled.positions[x]) & ~np.isnan(pooled.positions[y])
    shown = _spread(np.flatnonzero(best_N), _MOST_DOTS)
    relative = (x in pooled.relative, y in pooled.relative)
    some = f"{len(shown)} of the {int(best_N.sum())} in" if len(shown) < best_N.sum() else ""
    dots = f"{some} the best tenth".strip()
    return Illustration(
        name=f"response-map-{position}",
        plots=(
            draw_response_map(
                cells,
                points=list(
                    zip(pooled.positions[x][shown], pooled.positions[y][shown], strict=True)
                ),
                are_relative=relative,
                title=series.name,
                name=f"response-map-{position}-plot",
            ),
        ),
        caption=f"{series.name}: median gain in points over the median config of its search, by"
        " its two most important hyperparameters. Cells with fewer than 3 configs are blank:"
        f" nothing is interpolated. Dots: {dots} of each search. {_over(pooled)}.",
        table=_map_table(cells, relative, position),
    )


def _map_table(cells: ResponseGrid, relative: tuple[bool, bool], position: int) -> Table:
    rows, columns = cells.medians_YX.shape
    heads = [
        _bin_text(cells.x, cells.x_edges[i], cells.x_edges[i + 1], relative[0])
        for i in range(columns)
    ]
    lines = []
    for row in reversed(range(rows)):
        label = _bin_text(cells.y, cells.y_edges[row], cells.y_edges[row + 1], relative[1])
        lines.append((Cell(text=label), *(_map_cell(cells, row, i) for i in range(columns))))
    return Table(
        name=f"response-map-{position}-table",
        caption=f"Median gain in points by {cells.y.name} (rows) and {cells.x.name} (columns),"
        " with the number of configs",
        columns=(*Column.texts(cells.y.name), *Column.numbers(*heads, group=cells.x.name)),
        rows=tuple(lines),
    )


def _map_cell(cells: ResponseGrid, row: int, column: int) -> Cell:
    median, count = float(cells.medians_YX[row, column]), int(cells.counts_YX[row, column])
    if np.isnan(median):
        return Cell(text=MISSING, detail=f"n = {count}")
    return Cell.signed(median, detail=f"n = {count}")


def _parallel(
    pooled: PooledConfigs,
    names: list[str],
    regions: tuple[BestRegion, ...],
    series: Series,
    position: int,
) -> Illustration:
    by_rank_N = np.argsort(-pooled.gains_N, kind="stable")
    shown = _spread(by_rank_N, _MOST_LINES)
    heights_NP = np.stack(
        [_heights(pooled.ranges[name], pooled.positions[name][shown]) for name in names], axis=1
    )
    sample = (
        f" {len(shown)} of {pooled.num_configs} configs are drawn, evenly by rank."
        if len(shown) < pooled.num_configs
        else ""
    )
    return Illustration(
        name=f"parallel-{position}",
        plots=(
            draw_parallel(
                {name: pooled.ranges[name] for name in names},
                heights_NP,
                pooled.is_good_N[shown],
                series=series,
                name=f"parallel-{position}-plot",
            ),
        ),
        caption=f"{series.name}: configs across their hyperparameters, most important first; in"
        f" colour the best quarter of each search.{sample} {_over(pooled)}.",
        table=_region_table(regions, pooled, position),
    )


def _heights(searched: SearchedRange, positions_N: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions as shares of the axis, 0 to 1; those of a choice are indices of its values."""
    return positions_N / max(1, len(searched.values) - 1) if searched.is_choice else positions_N


def _spread(indices: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """At most so many of them, evenly spaced in their order."""
    if len(indices) <= most:
        return indices
    return indices[np.linspace(0, len(indices) - 1, most).round().astype(np.intp)]


def _region_table(regions: tuple[BestRegion, ...], pooled: PooledConfigs, position: int) -> Table:
    lines = tuple(
        (
            Cell.word(region.hyperparameter),
            Cell(text=_range_text(region)),
            Cell(text=region_text(region) or MISSING),
            Cell(text=_median_interval(region)),
            Cell(text=_end_text(region, region.at_low)),
            Cell(text=_end_text(region, region.at_high)),
            Cell.number(region.num_best, 0),
        )
        for region in regions
    )
    labels = ("95 % interval of the median", "Winners at lower end", "Winners at upper end")
    return Table(
        name=f"regions-{position}",
        caption=f"{pooled.loss}: where the best tenth of each search lies (central 80 %), and how"
        " many winners of searches lie within 2 % of an end of the range. Bootstrap over"
        f" {'blocks' if pooled.num_blocks >= 5 else 'the best configs'}",
        columns=(
            *Column.texts("Hyperparameter", "Searched", "Best configs"),
            *Column.numbers(*labels, "Best configs, n"),
        ),
        rows=lines,
    )


def _range_text(region: BestRegion) -> str:
    is_known = region.searched.is_choice or not region.is_relative
    return searched_range_text(region.searched) if is_known else "differs between blocks"


def _median_interval(region: BestRegion) -> str:
    if not isinstance(region.best, BestRange):
        return MISSING
    text = percent if region.is_relative else value_text
    return f"{text(region.best.median_low)} to {text(region.best.median_high)}"


def _end_text(region: BestRegion, end: RangeEnd) -> str:
    is_known = region.num_winners and region.searched.is_recorded
    return f"{end.num} of {region.num_winners}" if is_known else MISSING

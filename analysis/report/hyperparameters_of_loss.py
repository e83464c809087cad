"""The hyperparameters of one loss: response curves, interactions, best regions."""

import numpy as np

from analysis.figures.configs import shown_configs
from analysis.figures.parallel import parallel_plot
from analysis.figures.response_map import response_map_plot
from analysis.figures.slices import slice_plot
from analysis.hyperparameters.best_regions import BestRange, BestRegion, RangeEnd
from analysis.hyperparameters.findings_text import region_text
from analysis.hyperparameters.pooled_configs import PooledConfigs
from analysis.hyperparameters.response_curves import (
    ResponseCurve,
    ResponseGrid,
    response_curves,
    response_grid,
)
from analysis.hyperparameters.searched_ranges import SearchedRange, searched_range_text, value_text
from analysis.hyperparameters.tuned_hyperparameters import TunedHyperparameters
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Part,
    SideBySide,
    Table,
)
from analysis.wording import MISSING, counted, percent, range_of

# Marks of one figure, and of all losses of a page together.
_MOST_DOTS, _ALL_DOTS = 300, 3_000
_MOST_LINES, _ALL_LINES = 120, 1_500
_FEWEST = 40
_BEST_CONFIGS = 5
_LOWEST = 0.05  # of the configs may lie below a panel


def loss_fold(tuned: TunedHyperparameters, loss: str, sentence: str, *, position: int) -> Fold:
    """Figures and tables of one loss.

    Args:
        tuned: hyperparameters of the study's losses.
        loss: name of a loss with pooled configs.
        sentence: which of its hyperparameters matter; "" if that is unknown.
        position: position of the loss among all, for the names of figures.
    """
    parts = (*((Paragraph(text=sentence),) if sentence else ()), *_parts(tuned, loss, position))
    return Fold(summary=loss, parts=parts)


def _parts(tuned: TunedHyperparameters, loss: str, position: int) -> tuple[Part, ...]:
    pooled, num_losses = tuned.pooled[loss], len(tuned.pooled)
    if not pooled.ranges:
        return ()
    ranked = tuned.importances.filter(loss=loss)["hyperparameter"].to_list()
    names = [name for name in ranked if name in pooled.ranges]
    parts: list[Part] = [_curves(tuned, pooled, names, position)]
    if len(names) > 1:
        figures = [_parallel(pooled, names, position, num_losses)]
        cells = response_grid(pooled, names[0], names[1])
        if np.isfinite(cells.medians_YX).any():
            figures.append(_map(pooled, cells, position, num_losses))
        parts.append(SideBySide(parts=tuple(figures)))
    table = _region_table(tuned.regions[loss], pooled, position)
    return (*parts, Fold(summary=f"Best regions of {loss}", parts=(table,)))


def _share(most: int, of_all: int, num_losses: int) -> int:
    """How many marks a loss has, so that those of all losses are bounded."""
    return max(_FEWEST, min(most, of_all // num_losses))


def _gain_range(pooled: PooledConfigs) -> tuple[float, float]:
    """Ends of an axis of gains; a few configs that diverged would make all others one."""
    low, high = np.quantile(pooled.gains_N, [_LOWEST, 1])
    room = 0.06 * max(high - low, 1e-6)
    return float(low - room), float(high + room)


def _over(pooled: PooledConfigs, num_shown: int) -> str:
    """How many configs there are, and how many of them are drawn."""
    of = f"{counted(pooled.num_configs, 'config')} in {counted(pooled.num_blocks, 'block')}"
    return of if num_shown == pooled.num_configs else f"{num_shown} of {of} drawn, evenly by rank"


def _signs(pooled: PooledConfigs) -> str:
    return "stars: best of each search" + (
        "; diamond: published default" if pooled.default else ""
    )


def _curves(
    tuned: TunedHyperparameters,
    pooled: PooledConfigs,
    names: list[str],
    position: int,
) -> Illustration:
    regions = {region.hyperparameter: region for region in tuned.regions[pooled.loss]}
    found = response_curves(pooled, names)
    shown = shown_configs(pooled, _share(_MOST_DOTS, _ALL_DOTS, len(tuned.pooled)))
    unit = "blocks" if pooled.num_blocks >= 5 else "configs"
    return Illustration(
        name=f"slices-{position}",
        plots=tuple(
            slice_plot(
                one,
                pooled,
                shown,
                gain_range=_gain_range(pooled),
                region=regions[name],
                name=f"slice-{position}-{column}",
            )
            for column, (name, one) in enumerate(zip(names, found, strict=True))
        ),
        caption=f"Response curves of {pooled.loss} on {tuned.role}, most important hyperparameter"
        f" first. Line and band: median of a bin with its 95 % bootstrap interval over {unit}; bar"
        f" below: central 80 % of the best tenth; {_signs(pooled)}."
        f" {_over(pooled, len(shown))}; the worst twentieth lies below.",
        table=_curve_table(names, found, pooled, position),
    )


def _curve_table(
    names: list[str], found: tuple[ResponseCurve, ...], pooled: PooledConfigs, position: int
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
        caption=f"{pooled.loss}: points above the median config, by bins of each hyperparameter;"
        " bins of fewer than 3 configs left out",
        columns=(
            *Column.texts("Hyperparameter", "Values"),
            *Column.numbers("Median", "95 % interval", "Quartiles", "Configs"),
        ),
        rows=lines,
    )


def _bin_text(searched: SearchedRange, left: float, right: float, is_relative: bool) -> str:
    if searched.is_choice:
        return value_text(searched.values[round((left + right) / 2)])
    ends = [_end_at(searched, min(1.0, max(0.0, end)), is_relative) for end in (left, right)]
    return f"{ends[0]} to {ends[1]}{' of its range' if is_relative else ''}"


def _end_at(searched: SearchedRange, position: float, is_relative: bool) -> str:
    return percent(position) if is_relative else value_text(searched.value_at(position))


def _map(
    pooled: PooledConfigs, cells: ResponseGrid, position: int, num_losses: int
) -> Illustration:
    shown = shown_configs(pooled, _share(_MOST_DOTS, _ALL_DOTS, num_losses) // 2)
    relative = (cells.x.name in pooled.relative, cells.y.name in pooled.relative)
    return Illustration(
        name=f"response-map-{position}",
        plots=(response_map_plot(cells, pooled, shown, name=f"response-map-{position}-plot"),),
        caption=f"Interaction of the two most important hyperparameters of {pooled.loss}: median"
        f" of a cell; blank with fewer than 3 configs; {_signs(pooled)}.",
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
    pooled: PooledConfigs, names: list[str], position: int, num_losses: int
) -> Illustration:
    shown = shown_configs(pooled, _share(_MOST_LINES, _ALL_LINES, num_losses))
    default = "; dashed: published default" if pooled.default else ""
    return Illustration(
        name=f"parallel-{position}",
        plots=(
            parallel_plot(
                pooled,
                names,
                shown,
                gain_range=_gain_range(pooled),
                name=f"parallel-{position}-plot",
            ),
        ),
        caption=f"Configs of {pooled.loss}: a line each, coloured by its points above the median"
        f" config{default}. {_over(pooled, len(shown))}.",
        table=_best_table(pooled, names, position),
    )


def _best_table(pooled: PooledConfigs, names: list[str], position: int) -> Table:
    best = np.argsort(-pooled.gains_N, kind="stable")[:_BEST_CONFIGS].tolist()
    return Table(
        name=f"best-configs-{position}",
        caption=f"Configs of {pooled.loss} with most points above the median config of their"
        " search",
        columns=(*Column.texts("Block"), *Column.numbers("Points", *names)),
        rows=tuple(
            (
                Cell.word(pooled.blocks[pooled.blocks_N[config]]),
                Cell.signed(float(pooled.gains_N[config])),
                *(Cell(text=_config_value(pooled, name, config)) for name in names),
            )
            for config in best
        ),
    )


def _config_value(pooled: PooledConfigs, name: str, config: int) -> str:
    position = float(pooled.positions[name][config])
    if np.isnan(position):
        return MISSING
    searched = pooled.ranges[name]
    if searched.is_choice:
        return value_text(searched.values[round(position)])
    return _end_at(searched, position, name in pooled.relative)


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
        caption=f"Best regions of {pooled.loss}: where the best tenth of each search lies (central"
        " 80 %), and how many winners of searches lie within 2 % of an end of the range. Bootstrap"
        f" over {'blocks' if pooled.num_blocks >= 5 else 'the best configs'}",
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

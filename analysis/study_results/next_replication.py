"""Which replication makes a comparison of losses more precise for the least compute.

The standard error of the difference of two losses, each a mean over its runs, is

    error^2 = 2 x sum over components that differ between losses of variance / levels of a loss

One more block, repeat of the search, split or seed raises the levels of its own component and of
all within it. What all losses of a block share (the block, the split's own level) cancels.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from analysis.study_results.variance_components import Components

_NAMES = {"seed": "seed", "split": "split", "repeat": "repeat of the search", "block": "block"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """Hours that the study took so far, all losses and attempts together.

    Attributes:
        search: hours of the searches.
        final: hours of the final stage.
    """

    search: float
    final: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """How often a loss was replicated, means over losses.

    Attributes:
        block: number of blocks of a loss.
        search: number of its searches over all blocks.
        split: number of its splits over all blocks.
        run: number of its final runs.
        repeats: number of searches in a block.
        splits: number of splits of a search.
        seeds: number of runs on a split of a search.
        are_splits_own: whether each repeat has splits of its own.
    """

    block: float
    search: float
    split: float
    run: float
    repeats: float
    splits: float
    seeds: float
    are_splits_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """One more level of a factor, in every block and for every loss.

    Attributes:
        name: ``seed``, ``split``, ``repeat of the search`` or ``block``.
        error: standard error of a difference of two losses with it; None if unknown.
        gain: decrease of the standard error per hour; None if unknown.
        hours: hours that the replication takes.
        reason: why the error is unknown; else empty.
    """

    name: str
    error: float | None
    gain: float | None
    hours: float
    reason: str = ""


def levels_of(scores: pl.DataFrame) -> Levels:
    """How often losses were replicated.

    Args:
        scores: scores as for `analysis.study_results.variance_components.final_components`, at
            least one row.
    """
    num_losses = scores["loss"].n_unique()

    def levels(*names: str) -> float:
        return scores.select("loss", "block", *names).n_unique() / num_losses

    block, search, split = levels(), levels("repeat"), levels("split")
    cells, run = levels("repeat", "split"), scores.height / num_losses
    return Levels(
        block=block,
        search=search,
        split=split,
        run=run,
        repeats=search / block,
        splits=cells / search,
        seeds=run / cells,
        are_splits_own=cells == split and search > block,
    )


def standard_error(components: Components, levels: Levels) -> float:
    """Standard error of the difference of two losses, in units of the score."""
    counts = {
        "block_loss": levels.block,
        "search": levels.search,
        "split_loss": levels.split,
        "residual": levels.run,
    }
    total = sum(components.of(name).variance / count for name, count in counts.items())
    return float((2 * total) ** 0.5)


def replications(components: Components, levels: Levels, hours: Hours) -> list[Replication]:
    """One more of each, the largest gain per hour first, unknown ones last.

    Where there is one level so far, the effect of another is unknown: its component has no
    estimate.
    Its cost is the mean of those there are: a block or a repeat takes its searches and finals, a
    seed or a split its finals alone.

    Args:
        components: components of the final scores, from ``final_components``.
        levels: levels of the same scores, from ``levels_of``.
        hours: hours of the protocol that losses are compared under.
    """
    now = standard_error(components, levels)
    both = hours.search + hours.final
    taken = {
        "seed": hours.final / levels.seeds,
        "split": hours.final / levels.splits,
        "repeat": both / levels.repeats,
        "block": both / levels.block,
    }
    found = []
    for kind, more in _one_more(levels).items():
        name, cost = _NAMES[kind], taken[kind]
        if more is None:
            reason = f"one {name} so far, so what another adds is not known"
            found.append(Replication(name=name, error=None, gain=None, hours=cost, reason=reason))
            continue
        error = standard_error(components, more)
        gain = (now - error) / cost if cost > 0 else None
        found.append(Replication(name=name, error=error, gain=gain, hours=cost))
    return sorted(found, key=lambda item: -1.0 if item.gain is None else item.gain, reverse=True)


def _one_more(levels: Levels) -> Mapping[str, Levels | None]:
    """Factor -> the levels with one more of it; None where there is one so far."""
    seed = _times(levels, levels.seeds, run=True)
    split = _times(levels, levels.splits, split=True, run=True)
    repeat = _times(levels, levels.repeats, search=True, split=levels.are_splits_own, run=True)
    block = _times(levels, levels.block, block=True, search=True, split=True, run=True)
    return {"seed": seed, "split": split, "repeat": repeat, "block": block}


def _times(
    levels: Levels,
    number: float,
    *,
    block: bool = False,
    search: bool = False,
    split: bool = False,
    run: bool = False,
) -> Levels | None:
    if number <= 1:
        return None
    factor = (number + 1) / number
    return Levels(
        block=levels.block * (factor if block else 1),
        search=levels.search * (factor if search else 1),
        split=levels.split * (factor if split else 1),
        run=levels.run * (factor if run else 1),
        repeats=levels.repeats,
        splits=levels.splits,
        seeds=levels.seeds,
        are_splits_own=levels.are_splits_own,
    )

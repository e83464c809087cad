"""What the scores of a study vary with: blocks, splits, repeats of a search, configs, seeds.

Two models, each fitted by REML over all blocks at once, effects being within blocks:

- ``final_components``: test scores of tuned losses. What differs between losses beyond their mean
  decides how precise a comparison is: loss within block, its search, its split, its seeds.
- ``search_components``: validation scores of the trials of searches and of the retrained
  finalists. What differs between configs decides how reliable a search is.

A factor with one level, or one that the design does not distinguish from another, has no estimate,
and its row says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.estimates.class_variance import ClassVariance
from analysis.estimates.reml import RESIDUAL, Component, RemlFit, fit_reml

_FINAL_TERMS: Mapping[str, str] = {
    "block": "Block",
    "block_loss": "Loss within block",
    "split": "Split, alike for all losses",
    "search": "Repeat of the search",
    "split_loss": "Loss within split",
    RESIDUAL: "Seed",
}
SEARCH_TERMS: Mapping[str, str] = {
    "block": "Block",
    "split": "Split, alike for all configs",
    "config": "Config",
    "split_config": "Config within split",
    RESIDUAL: "Seed",
}
CLASSES = "classes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentEstimate:
    """One source of variation, as a standard deviation in units of the score.

    Attributes:
        name: name of the term, or `CLASSES`.
        label: label of the term in tables.
        spread: standard deviation; None without an estimate.
        low: lower end of the 95 % interval; None without an interval.
        high: upper end of the interval; None also where the data give no bound.
        num_levels: number of levels of the factor; 0 without an estimate.
        part_of: name of the term whose variance contains this one; empty otherwise.
        note: that it is truncated, with what it is estimated together, or why it is not.
    """

    name: str
    label: str
    spread: float | None
    low: float | None = None
    high: float | None = None
    num_levels: int = 0
    part_of: str = ""
    note: str = ""

    @property
    def variance(self) -> float:
        """Variance in squared units of the score; 0 without an estimate."""
        return 0.0 if self.spread is None else self.spread**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The estimates of one model.

    Attributes:
        estimates: one for each term in the model's order, the classes last.
        num_rows: number of scores.
        num_blocks: number of their blocks.
    """

    estimates: tuple[ComponentEstimate, ...]
    num_rows: int
    num_blocks: int

    def of(self, name: str) -> ComponentEstimate:
        """The estimate of a term."""
        return next(found for found in self.estimates if found.name == name)


def final_components(
    scores: pl.DataFrame, classes: ClassVariance | None = None, *, unit: float = 1.0
) -> Components | None:
    """Components of the test scores of tuned losses, the means of losses being fixed.

    Args:
        scores: one row per final run: ``block``, ``loss``, ``repeat``, ``split``, ``score``.
        classes: variance over test classes, losses being members; it is a part of ``block_loss``,
            from which it cannot be distinguished, since the losses of a block have the same test
            classes.
        unit: factor that scores are multiplied by (100 turns shares into points).

    Returns:
        None with too few scores.
    """
    loss, search, split = (scores[name].to_list() for name in ("loss", "repeat", "split"))
    fit = fit_reml(
        (scores["score"] * unit).to_numpy(),
        fixed_N=loss,
        clusters_N=scores["block"].to_list(),
        terms={
            "block": ["" for _ in loss],
            "block_loss": loss,
            "split": split,
            "search": _paired(loss, search),
            "split_loss": _paired(loss, split),
        },
    )
    if fit is None:
        return None
    estimates = _estimates(fit, _FINAL_TERMS)
    of_classes = _class_estimate(classes, unit, "Test classes", "block_loss", _FINAL_TERMS)
    return Components(
        estimates=(*estimates, of_classes),
        num_rows=scores.height,
        num_blocks=scores["block"].n_unique(),
    )


def search_components(
    scores: pl.DataFrame,
    classes: ClassVariance | None = None,
    *,
    unit: float = 1.0,
    with_intervals: bool = True,
) -> Components | None:
    """Components of the validation scores of configs, within blocks and losses.

    Which trials were retrained depends on their scores, which are all in: that biases no
    likelihood. Configs are taken as draws, as random search draws them.

    Args:
        scores: one row per trained network: ``block``, ``loss``, ``config``, ``split``, ``score``.
        classes: variance over validation classes, configs being members.
        unit: factor that scores are multiplied by.
        with_intervals: whether to estimate intervals, which take most of the time.

    Returns:
        None with too few scores.
    """
    loss, config, split = (scores[name].to_list() for name in ("loss", "config", "split"))
    fit = fit_reml(
        (scores["score"] * unit).to_numpy(),
        fixed_N=loss,
        clusters_N=_paired(scores["block"].to_list(), loss),
        terms={
            "block": ["" for _ in loss],
            "split": split,
            "config": config,
            "split_config": _paired(config, split),
        },
        with_intervals=with_intervals,
    )
    if fit is None:
        return None
    # Configs are judged on the classes of a split: variance over classes is theirs within it.
    part_of = fit.merged.get("split_config") or "split_config"
    of_classes = _class_estimate(classes, unit, "Validation classes", part_of, SEARCH_TERMS)
    return Components(
        estimates=(*_estimates(fit, SEARCH_TERMS), of_classes),
        num_rows=scores.height,
        num_blocks=scores["block"].n_unique(),
    )


def _paired(first: Sequence[object], second: Sequence[object]) -> list[tuple[object, object]]:
    return list(zip(first, second, strict=True))


def _estimates(fit: RemlFit, labels: Mapping[str, str]) -> tuple[ComponentEstimate, ...]:
    return tuple(
        _unestimated(name, label, fit.merged[name], labels)
        if name in fit.merged
        else _estimate(name, label, fit, labels)
        for name, label in labels.items()
    )


def _unestimated(
    name: str, label: str, merged_into: str, labels: Mapping[str, str]
) -> ComponentEstimate:
    note = (
        f"cannot be distinguished from {labels[merged_into].lower()}"
        if merged_into
        else "one level only"
    )
    return ComponentEstimate(name=name, label=label, spread=None, note=note)


def _estimate(name: str, label: str, fit: RemlFit, labels: Mapping[str, str]) -> ComponentEstimate:
    found: Component = fit.components[name]
    together = [labels[other].lower() for other, term in fit.merged.items() if term == name]
    notes = [f"together with {' and '.join(together)}"] if together else []
    if found.is_truncated:
        notes.append("the estimate would be negative and is shown as 0")
    return ComponentEstimate(
        name=name,
        label=label,
        spread=found.variance**0.5,
        low=None if found.low is None else found.low**0.5,
        high=None if found.high is None else found.high**0.5,
        num_levels=found.num_levels,
        note="; ".join(notes),
    )


def _class_estimate(
    classes: ClassVariance | None, unit: float, label: str, part_of: str, labels: Mapping[str, str]
) -> ComponentEstimate:
    if classes is None or classes.own is None:
        note = "no classes that two were judged on"
        return ComponentEstimate(name=CLASSES, label=label, spread=None, note=note)
    own, low, high = (
        None if value is None else unit * value**0.5
        for value in (classes.own, classes.own_low, classes.own_high)
    )
    return ComponentEstimate(
        name=CLASSES,
        label=label,
        spread=own,
        low=low,
        high=high,
        num_levels=classes.num_classes,
        part_of=part_of,
        note=f"a part of {labels[part_of].lower()}",
    )

"""What the scores of a study vary with: blocks, splits, repeats of a search, configs, seeds.

Two models, each fitted by REML over all blocks at once, effects being within blocks:

- ``final_components``: test scores of tuned losses. What differs between losses beyond their mean
  decides how sure a comparison is: loss within block, its search, its split, its seeds.
- ``search_components``: validation scores of the trials of searches and of the retrained
  finalists. What differs between configs decides how sure a search is.

A factor with one level, or one that cannot be told from another in the design at hand, has no
estimate, and its row says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.estimates.class_variance import ClassVariance
from analysis.estimates.reml import RESIDUAL, Component, RemlFit, fit_reml

__all__ = [
    "CLASSES",
    "FINAL_TERMS",
    "SEARCH_TERMS",
    "ComponentEstimate",
    "Components",
    "final_components",
    "search_components",
]

FINAL_TERMS: Mapping[str, str] = {
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
        spread: None where it has no estimate.
        low: end of the 95 % interval; None where there is none.
        high: the other end; None also where the data set no bound.
        num_levels: of the factor; 0 without an estimate.
        part_of: the term that holds it, of which it is a part; empty otherwise.
        note: truncated, with what it is taken together, or why there is no estimate.
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
        """0 where there is no estimate."""
        return 0.0 if self.spread is None else self.spread**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The estimates of one model.

    Attributes:
        estimates: in the order of the model's terms, the classes last.
        num_rows: scores that went in.
        num_blocks: in which they lie.
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
        classes: of the test classes, losses being members; a part of ``block_loss``, which it
            cannot be told from, since the losses of a block have the same test classes.
        unit: scores are multiplied by it (100 makes points of shares).

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
    estimates = _estimates(fit, FINAL_TERMS)
    of_classes = _of_classes(classes, unit, "Test classes", "block_loss", FINAL_TERMS)
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
        classes: of the validation classes, configs being members.
        unit: scores are multiplied by it.
        with_intervals: they take most of the time.

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
    # Configs are judged by classes of a split, so their luck of classes is theirs within a split.
    part_of = fit.merged.get("split_config") or "split_config"
    of_classes = _of_classes(classes, unit, "Validation classes", part_of, SEARCH_TERMS)
    return Components(
        estimates=(*_estimates(fit, SEARCH_TERMS), of_classes),
        num_rows=scores.height,
        num_blocks=scores["block"].n_unique(),
    )


def _paired(first: Sequence[object], second: Sequence[object]) -> list[tuple[object, object]]:
    return list(zip(first, second, strict=True))


def _estimates(fit: RemlFit, labels: Mapping[str, str]) -> tuple[ComponentEstimate, ...]:
    return tuple(
        _missing(name, label, fit.merged[name], labels)
        if name in fit.merged
        else _estimate(name, label, fit, labels)
        for name, label in labels.items()
    )


def _missing(
    name: str, label: str, with_term: str, labels: Mapping[str, str]
) -> ComponentEstimate:
    told = f"cannot be told from {labels[with_term].lower()}" if with_term else "one level only"
    return ComponentEstimate(name=name, label=label, spread=None, note=told)


def _estimate(name: str, label: str, fit: RemlFit, labels: Mapping[str, str]) -> ComponentEstimate:
    found: Component = fit.components[name]
    together = [labels[other].lower() for other, term in fit.merged.items() if term == name]
    notes = [f"together with {' and '.join(together)}"] if together else []
    if found.is_truncated:
        notes.append("the estimate would be negative, 0 stands for it")
    return ComponentEstimate(
        name=name,
        label=label,
        spread=found.variance**0.5,
        low=None if found.low is None else found.low**0.5,
        high=None if found.high is None else found.high**0.5,
        num_levels=found.num_levels,
        note="; ".join(notes),
    )


def _of_classes(
    classes: ClassVariance | None,
    unit: float,
    label: str,
    part_of: str,
    labels: Mapping[str, str],
) -> ComponentEstimate:
    if classes is None or classes.own is None:
        told = "no classes that two were judged on"
        return ComponentEstimate(name=CLASSES, label=label, spread=None, note=told)
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

"""What the scores of a study vary with: blocks, splits, repeats of a search, configs, seeds.

Two models, estimated by moments over all blocks at once, effects being within blocks:

- ``final_components``: test scores of tuned losses. What differs between losses beyond their mean
  decides how precise a comparison is: loss within block, its search, its split, its seeds.
- ``search_components``: validation scores of the trials of searches. What differs between configs
  decides how reliable a search is.

A factor with one level, or one that the design does not distinguish from another, has no estimate,
and its row says why.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from podium.analysis.estimates.variance_moments import (
    RESIDUAL,
    VarianceMoments,
    pooled_variance,
    variance_moments,
)

_LOSS, _CONFIG = ("block", "loss"), ("block", "loss", "config")
_FINAL_TERMS = {
    "block": ("block",),
    "block_loss": _LOSS,
    "split": ("block", "split"),
    "search": (*_LOSS, "repeat"),
    "split_loss": (*_LOSS, "split"),
}
_SEARCH_TERMS = {
    "block": _LOSS,
    "split": (*_LOSS, "split"),
    "config": _CONFIG,
    "split_config": (*_CONFIG, "split"),
}
_FINAL_LABELS = {
    "block": "Setting",
    "block_loss": "Loss within setting",
    "split": "Split, alike for all losses",
    "search": "Repeat of the search",
    "split_loss": "Loss within split",
    RESIDUAL: "Seed",
}
_SEARCH_LABELS = {
    "block": "Setting",
    "split": "Split, alike for all configs",
    "config": "Config",
    "split_config": "Config within split",
    RESIDUAL: "Seed",
}
_CLASSES = "classes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One source of variation, as a standard deviation in units of the score.

    Attributes:
        name: name of the term, or ``classes``.
        label: label of the term in tables.
        spread: standard deviation; None without an estimate.
        num_levels: number of levels of the factor; 0 without an estimate.
        note: that it is truncated, with what it is estimated together, or why it is not.
    """

    name: str
    label: str
    spread: float | None
    num_levels: int = 0
    note: str = ""


def final_components(
    scores: pl.DataFrame, classes: tuple[float | None, int] | None = None
) -> tuple[Component, ...]:
    """Components of the test scores of tuned losses, the means of losses being fixed.

    Args:
        scores: one row per final run: ``block``, ``loss``, ``repeat``, ``split``, ``score``.
        classes: from `class_variance`, of test classes, losses being members; it is a part of
            ``block_loss``, from which it cannot be distinguished, since the losses of a block
            have the same test classes.

    Returns:
        One for each term in the model's order, the classes last; empty with too few scores.
    """
    found = variance_moments(scores, fixed="loss", terms=_FINAL_TERMS)
    if found is None:
        return ()
    of_classes = _of_classes(classes, "Test classes", "block_loss", _FINAL_LABELS)
    return (*_components(found, _FINAL_LABELS), of_classes)


def search_components(
    scores: pl.DataFrame, classes: tuple[float | None, int] | None = None
) -> tuple[Component, ...]:
    """Components of the validation scores of configs, within blocks and losses.

    Configs are retrained for their good score, so retrained ones say how much seeds scatter and
    nothing of how configs do. Configs are taken as draws, as random search draws them.

    Args:
        scores: one row per trained network: ``block``, ``loss``, ``config``, ``split``, ``stage``
            (``search``, or ``final`` of the retrained), ``score``.
        classes: from `class_variance`, of validation classes, configs being members.

    Returns:
        As `final_components`.
    """
    searched = scores.filter(pl.col("stage") == "search")
    seeds = pooled_variance(scores, (*_CONFIG, "split", "stage"))
    found = variance_moments(searched, fixed="loss", terms=_SEARCH_TERMS, residual=seeds)
    if found is None:
        return ()
    # Configs are judged on the classes of a split: variance over classes is theirs within it.
    part_of = found.merged.get("split_config") or "split_config"
    of_classes = _of_classes(classes, "Validation classes", part_of, _SEARCH_LABELS)
    return (*_components(found, _SEARCH_LABELS), of_classes)


def _components(found: VarianceMoments, labels: Mapping[str, str]) -> Iterator[Component]:
    for name, label in labels.items():
        if name in found.merged:
            into = found.merged[name]
            other = f"cannot be distinguished from {labels[into].lower()}" if into else ""
            note = other or "one level only"
            yield Component(name=name, label=label, spread=None, note=note)
        else:
            yield Component(
                name=name,
                label=label,
                spread=found.variances[name] ** 0.5,
                num_levels=found.num_levels[name],
                note=_note(name, found, labels),
            )


def _note(name: str, found: VarianceMoments, labels: Mapping[str, str]) -> str:
    together = [labels[other].lower() for other, term in found.merged.items() if term == name]
    notes = [f"together with {' and '.join(together)}"] if together else []
    if name in found.negative:
        notes.append("the estimate would be negative and is shown as 0")
    return "; ".join(notes)


def _of_classes(
    classes: tuple[float | None, int] | None, label: str, part_of: str, labels: Mapping[str, str]
) -> Component:
    if classes is None or classes[0] is None:
        note = "no classes that two were judged on"
        return Component(name=_CLASSES, label=label, spread=None, note=note)
    return Component(
        name=_CLASSES,
        label=label,
        spread=classes[0] ** 0.5,
        num_levels=classes[1],
        note=f"a part of {labels[part_of].lower()}",
    )

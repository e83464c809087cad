"""The assumptions of a plan, as an earlier study measured them."""

import numpy as np

from analysis.estimates.class_variance import ClassVariance
from analysis.estimates.variance_moments import RESIDUAL, pooled_variance
from analysis.study_results.component_scores import (
    final_component_scores,
    search_component_scores,
    search_validation_classes,
)
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.study_results.variance_components import CLASSES, search_components

_RUN = ("block", "loss", "repeat", "split")


def measured_assumptions(results: StudyResults) -> dict[str, float]:
    """Values for ``podium.plan.statistical_power.Assumptions``, in points.

    - ``recall``: mean validation score of complete search trials.
    - ``spread``: standard deviation between configs, without the variance of validation classes
      where all configs are judged on one split, which looks like a difference of configs.
    - ``class_correlation``, ``shared``: from the variance over validation classes.
    - ``seed_std``: standard deviation of a config over runs, without the same variance where each
      run has classes of its own; that of finals on test if searches give no estimate.
    - ``block_std``: standard deviation over blocks of the difference of two losses, including
      that of its runs.
    - ``block_correlation``: intraclass correlation of blocks of one data set and backbone.

    Args:
        results: results of the earlier study.

    Returns:
        Name of an assumption -> value; those without an estimate are absent.
    """
    classes = search_validation_classes(results)
    found = {
        "class_correlation": classes.class_correlation if classes else None,
        "shared": classes.shared if classes else None,
        **_of_searches(results, classes),
        "block_correlation": (
            results.tournament.intraclass_correlation if results.tournament else None
        ),
        "block_std": _block_std(results),
    }
    if found.get("seed_std") is None:
        seeds = pooled_variance(final_component_scores(results), _RUN)
        found["seed_std"] = PERCENT * seeds[0] ** 0.5 if seeds else None
    return {name: value for name, value in found.items() if value is not None}


def _of_searches(results: StudyResults, classes: ClassVariance | None) -> dict[str, float | None]:
    """``recall``, ``spread`` and ``seed_std``, without the variance of classes in these."""
    scores = search_component_scores(results)
    if scores.is_empty():
        return {}
    recalls = scores.filter(scores["stage"] == "search")["score"].sort().to_numpy()
    recall = PERCENT * float(recalls.mean()) if len(recalls) else 0.0
    found: dict[str, float | None] = {"recall": recall if 0 < recall < PERCENT else None}
    components = {one.name: one for one in search_components(scores, classes)}
    if any(
        name not in components or components[name].spread is None for name in ("config", RESIDUAL)
    ):
        return found
    of_classes = components[CLASSES]
    for name, assumption in (("config", "spread"), (RESIDUAL, "seed_std")):
        variance = (components[name].spread or 0.0) ** 2
        if of_classes.part_of == name:
            variance = max(variance - (of_classes.spread or 0.0) ** 2, 0.0)
        found[assumption] = PERCENT * variance**0.5
    return {**found, "spread": found["spread"] or None}


def _block_std(results: StudyResults) -> float | None:
    """Root of the mean variance over blocks of the differences of all pairs of losses.

    None with one block or loss that all have.
    """
    table = results.selection.pivot(
        on="loss", index="block", values="test_winner", aggregate_function="mean"
    ).sort("block")
    means_BC = table.drop("block").select(sorted(results.losses)).drop_nulls().to_numpy()
    if min(means_BC.shape) < 2:
        return None
    rest_BC = means_BC - means_BC.mean(axis=1, keepdims=True)
    pair_variance = 2 * rest_BC.var(axis=0, ddof=1).sum() / (means_BC.shape[1] - 1)
    return PERCENT * float(np.sqrt(pair_variance))

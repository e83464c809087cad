"""The assumptions of a plan, as an earlier study measured them."""

from analysis.study_results.component_scores import (
    final_component_scores,
    final_test_classes,
    search_component_scores,
    search_validation_classes,
)
from analysis.study_results.next_replication import levels_of, standard_error
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.study_results.variance_components import (
    CLASSES,
    Components,
    final_components,
    search_components,
)


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
    found: dict[str, float] = {}
    classes = search_validation_classes(results)
    if classes is not None:
        found |= {
            name: value
            for name, value in (
                ("class_correlation", classes.class_correlation),
                ("shared", classes.shared),
            )
            if value is not None
        }
    scores = search_component_scores(results)
    search = None
    if not scores.is_empty():
        searched = scores.filter(scores["stage"] == "search")["score"]
        recall = PERCENT * float(str(searched.sort().mean()))
        if 0 < recall < PERCENT:
            found["recall"] = recall
        search = search_components(scores, classes, unit=PERCENT, with_intervals=False)
    if search is not None:
        found |= _of_search(search)
    alike = results.tournament.intraclass_correlation if results.tournament else None
    if alike is not None:
        found["block_correlation"] = alike
    return found | _of_finals(results, has_seeds="seed_std" in found)


def _of_search(search: Components) -> dict[str, float]:
    """``spread`` and ``seed_std``, without the variance of classes where they contain it."""
    config, residual = search.of("config"), search.of("residual")
    if config.spread is None or residual.spread is None:
        return {}
    class_estimate = search.of(CLASSES)
    in_config = class_estimate.variance if class_estimate.part_of == config.name else 0.0
    in_seed = class_estimate.variance if class_estimate.part_of == residual.name else 0.0
    spread = max(config.variance - in_config, 0.0) ** 0.5
    seed_std = max(residual.variance - in_seed, 0.0) ** 0.5
    return {**({"spread": spread} if spread > 0 else {}), "seed_std": seed_std}


def _of_finals(results: StudyResults, *, has_seeds: bool) -> dict[str, float]:
    scores = final_component_scores(results)
    if scores.is_empty():
        return {}
    finals = final_components(scores, final_test_classes(results), unit=PERCENT)
    if finals is None:
        return {}
    found = {}
    residual, levels = finals.of("residual"), levels_of(scores)
    if not has_seeds and residual.spread is not None and levels.seeds > 1:
        found["seed_std"] = residual.spread
    if finals.of("block_loss").spread is not None and scores["loss"].n_unique() > 1:
        found["block_std"] = standard_error(finals, levels) * levels.block**0.5
    return found

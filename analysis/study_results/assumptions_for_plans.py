"""What an earlier study measured of the things that a plan has to assume."""

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

__all__ = ["measured_assumptions"]


def measured_assumptions(results: StudyResults) -> dict[str, float]:
    """Values for ``podium.plan.statistical_power.Assumptions``, in points; none that is unknown.

    - ``recall``: mean validation score of complete search trials.
    - ``spread``: of configs, after the luck of validation classes that they do not share where
      all are judged on one split, which looks like a difference of configs.
    - ``class_correlation``, ``shared``: over validation classes.
    - ``seed_std``: of a config over runs, after the same luck where each run has classes of its
      own; of finals on test if searches do not tell it.
    - ``block_std``: of the difference of two losses over blocks, its runs' luck in it.

    Args:
        results: of the earlier study.
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
    return found | _of_finals(results, has_seeds="seed_std" in found)


def _of_search(search: Components) -> dict[str, float]:
    """Spread of configs and scatter over runs, without the luck of classes where it is in them."""
    config, residual = search.of("config"), search.of("residual")
    if config.spread is None or residual.spread is None:
        return {}
    luck = search.of(CLASSES)
    in_config = luck.variance if luck.part_of == config.name else 0.0
    in_seed = luck.variance if luck.part_of == residual.name else 0.0
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

"""Reads ``budget`` of a study file, and judges whether the study can be held to it."""

from dataclasses import fields

from orchestrator.results.records.ended_searches import HOURS
from orchestrator.study.blocks import searches
from orchestrator.study.budget import num_reserved, trials_per_search
from orchestrator.study.resource_demand import least_demand
from orchestrator.study.study import BudgetSettings, Study
from orchestrator.study_parser.problems import Problems
from orchestrator.study_parser.yaml_section import Section

__all__ = ["check_budget", "read_budget"]

_KEYS = [field.name for field in fields(BudgetSettings)]


def read_budget(top: Section) -> BudgetSettings:
    """The section ``budget``."""
    section = top.section("budget", _KEYS)
    trials = None if section.is_null("trials") else section.whole("trials", 1, low=1)
    return BudgetSettings(
        gpu_hours=section.real_or_null("gpu_hours", None, above=0.0),
        wall_hours=section.real_or_null("wall_hours", None, above=0.0),
        trials=trials,
    )


def check_budget(study: Study, problems: Problems) -> None:
    """Note a budget that nothing would count against, or that is too small for a result."""
    if problems.concern(("budget",)):
        return
    if study.search.order == "deterministic" and not problems.concern(("search", "order")):
        for name in HOURS:
            if (given := getattr(study.budget, name)) is not None:
                problems.add(
                    ("budget", name),
                    f"budget.{name} does not go with search.order deterministic: tables would "
                    "depend on how fast machines are; give budget.trials",
                    got=given,
                )
    if study.budget.gpu_hours is not None and not problems.concern(("resources",)):
        _check_gpus(study, problems)
    if study.budget.trials is not None:
        _check_trials(study, study.budget.trials, problems)


def _check_gpus(study: Study, problems: Problems) -> None:
    if not least_demand(study).gpus:
        problems.add(
            ("budget", "gpu_hours"),
            "budget.gpu_hours needs resources.gpus_per_trial above 0 for every backbone, or its "
            "trials would cost nothing; without GPUs give budget.wall_hours or budget.trials",
            got=study.budget.gpu_hours,
        )


def _check_trials(study: Study, trials: int, problems: Problems) -> None:
    judged_by = (("datasets",), ("backbones",), ("embedding_dims",), ("image_sizes",))
    if problems.concern(*judged_by, ("losses",), ("protocol",), ("search",), ("final",)):
        return
    count, reserved = len(searches(study)), num_reserved(study)
    share, wanted = trials_per_search(study), study.search.trials
    if trials < reserved + count:
        problems.add(
            ("budget", "trials"),
            f"budget.trials must be at least {reserved + count}: {reserved} of the final stage "
            f"and its baselines, and the published default of each of {count} searches",
            got=trials,
        )
    elif study.search.sampler == "grid" and share < wanted:
        problems.add(
            ("budget", "trials"),
            f"budget.trials leaves each search {share} of its {wanted} trials, but the grid needs "
            f"all: give at least {reserved + count * wanted}",
            got=trials,
        )

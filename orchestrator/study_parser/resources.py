"""Checks ``resources`` and ``budget`` of a study: whether the budget suffices."""

from collections.abc import Collection
from dataclasses import replace

from podium.orchestrator.results.records.runs import HOURS
from podium.orchestrator.study.blocks import searches
from podium.orchestrator.study.budget import num_reserved_trials, trials_per_search
from podium.orchestrator.study.resource_demand import least_demand
from podium.orchestrator.study.study import ResourceSettings, Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import note_unknown


def with_known_backbones(
    resources: ResourceSettings, backbones: Collection[str], problems: Problems
) -> ResourceSettings:
    """The resources of the study's backbones, in their order; others are noted."""
    if problems.concern("backbones"):
        return replace(resources, backbones={})
    given = resources.backbones
    for name in given:
        if name not in backbones:
            note_unknown(("resources", "backbones", name), backbones, problems)
    return replace(resources, backbones={name: given[name] for name in backbones if name in given})


def check_budget(study: Study, problems: Problems) -> None:
    """Note a budget that nothing would use up, or that is too small for a result."""
    if problems.concern("budget"):
        return
    if study.search.order == "deterministic" and not problems.concern("search.order"):
        for name in HOURS:
            if (given := getattr(study.budget, name)) is not None:
                problems.add(
                    ("budget", name),
                    f"budget.{name} cannot be combined with search.order deterministic: tables"
                    " would depend on how fast machines are; give budget.trials",
                    got=given,
                )
    if study.budget.gpu_hours is not None and not problems.concern("resources"):
        _check_gpu_hours(study, problems)
    if study.budget.trials is not None:
        _check_trials(study, study.budget.trials, problems)


def _check_gpu_hours(study: Study, problems: Problems) -> None:
    if not least_demand(study).gpus:
        problems.add(
            "budget.gpu_hours",
            "budget.gpu_hours needs resources.gpus_per_trial above 0 for every backbone, or its "
            "trials would cost nothing; without GPUs give budget.wall_hours or budget.trials",
            got=study.budget.gpu_hours,
        )


def _check_trials(study: Study, trials: int, problems: Problems) -> None:
    depends_on = ("datasets", "backbones", "embedding_dims", "image_sizes", "losses", "protocol")
    if problems.concern(*depends_on, "search", "final"):
        return
    count, reserved = len(searches(study)), num_reserved_trials(study)
    share, wanted = trials_per_search(study), study.search.trials
    if trials < reserved + count:
        problems.add(
            "budget.trials",
            f"budget.trials must be at least {reserved + count}: {reserved} of the final stage "
            f"and its baselines, and the published default of each of {count} searches",
            got=trials,
        )
    elif study.search.sampler == "grid" and share < wanted:
        problems.add(
            "budget.trials",
            f"budget.trials leaves each search {share} of its {wanted} trials, but the grid needs "
            f"all: give at least {reserved + count * wanted}",
            got=trials,
        )

"""Reads ``resources`` and ``budget`` of a study file, and checks that the budget suffices."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from orchestrator.results.records.runs import HOURS
from orchestrator.study.blocks import searches
from orchestrator.study.budget import num_reserved_trials, trials_per_search
from orchestrator.study.resource_demand import least_demand
from orchestrator.study.study import BudgetSettings, ResourceSettings, ResourceShare, Study
from orchestrator.study_parser.problems import Problems
from orchestrator.study_parser.study_size import MAX_TRIALS
from orchestrator.study_parser.yaml_section import Section, label
from trainables.settings.trial_settings import BackboneSettings

_KEYS = [field.name for field in fields(ResourceSettings)]
_OF_BACKBONE = [field.name for field in fields(ResourceShare)]

# Of one trial, which Ray has to find on one node, and of time.
_MAX_CPUS, _MAX_GPUS = 10_000, 1_000
_MAX_HOURS, _MAX_GPU_HOURS = 1e6, 1e9

_BUDGET_KEYS = [field.name for field in fields(BudgetSettings)]


def read_resources(
    top: Section, backbones: Sequence[BackboneSettings], problems: Problems
) -> ResourceSettings:
    """The section ``resources``; its backbones must be some of the study's."""
    section = top.section("resources", _KEYS)
    base = ResourceSettings()
    gpus = section.number("gpus_per_trial", base.gpus_per_trial, low=0.0, high=_MAX_GPUS)
    _check_gpus(section, gpus, problems)
    return ResourceSettings(
        cpus_per_trial=section.number(
            "cpus_per_trial", base.cpus_per_trial, above=0.0, high=_MAX_CPUS
        ),
        gpus_per_trial=gpus,
        trial_hours=section.number_or_null(
            "trial_hours", base.trial_hours, above=0.0, high=_MAX_HOURS
        ),
        stuck_minutes=section.number_or_null(
            "stuck_minutes", base.stuck_minutes, above=0.0, high=_MAX_HOURS
        ),
        checkpoint_minutes=section.number(
            "checkpoint_minutes", base.checkpoint_minutes, low=0.0, high=_MAX_HOURS
        ),
        backbones=(
            {} if problems.concern(("backbones",)) else _shares(section, backbones, problems)
        ),
    )


def read_budget(top: Section) -> BudgetSettings:
    """The section ``budget``."""
    section = top.section("budget", _BUDGET_KEYS)
    hours = read_hours(section)
    trials = (
        None if section.is_null("trials") else section.integer("trials", 1, low=1, high=MAX_TRIALS)
    )
    return BudgetSettings(
        gpu_hours=hours.get("gpu_hours"),
        wall_hours=hours.get("wall_hours"),
        trials=trials,
    )


def read_hours(budget: Section) -> dict[str, float | None]:
    """The limits of hours that a section gives; None: no limit."""
    most = {"gpu_hours": _MAX_GPU_HOURS, "wall_hours": _MAX_HOURS}
    return {
        name: budget.number_or_null(name, None, above=0.0, high=most[name])
        for name in HOURS
        if name in budget
    }


def check_budget(study: Study, problems: Problems) -> None:
    """Note a budget that nothing would use up, or that is too small for a result."""
    if problems.concern(("budget",)):
        return
    if study.search.order == "deterministic" and not problems.concern(("search", "order")):
        for name in HOURS:
            if (given := getattr(study.budget, name)) is not None:
                problems.add(
                    ("budget", name),
                    f"budget.{name} cannot be combined with search.order deterministic: tables"
                    " would depend on how fast machines are; give budget.trials",
                    got=given,
                )
    if study.budget.gpu_hours is not None and not problems.concern(("resources",)):
        _check_gpu_hours(study, problems)
    if study.budget.trials is not None:
        _check_trials(study, study.budget.trials, problems)


def _shares(
    resources: Section, backbones: Sequence[BackboneSettings], problems: Problems
) -> Mapping[str, ResourceShare]:
    names = [backbone.name for backbone in backbones]
    of_backbones = resources.section("backbones", names)
    return {
        name: _share(of_backbones.section(name, _OF_BACKBONE), problems)
        for name in names
        if name in of_backbones
    }


def _share(section: Section, problems: Problems) -> ResourceShare:
    gpus = section.number_or_null("gpus_per_trial", None, low=0.0, high=_MAX_GPUS)
    _check_gpus(section, gpus, problems)
    return ResourceShare(
        cpus_per_trial=section.number_or_null("cpus_per_trial", None, above=0.0, high=_MAX_CPUS),
        gpus_per_trial=gpus,
    )


def _check_gpus(section: Section, gpus: float | None, problems: Problems) -> None:
    """Note a number above 1 that is not whole: Ray assigns fractions of one GPU, or whole GPUs."""
    if gpus is not None and gpus > 1 and gpus != int(gpus):
        path = (*section.path, "gpus_per_trial")
        problems.add(path, f"{label(path)} above 1 must be a whole number", got=gpus)


def _check_gpu_hours(study: Study, problems: Problems) -> None:
    if not least_demand(study).gpus:
        problems.add(
            ("budget", "gpu_hours"),
            "budget.gpu_hours needs resources.gpus_per_trial above 0 for every backbone, or its "
            "trials would cost nothing; without GPUs give budget.wall_hours or budget.trials",
            got=study.budget.gpu_hours,
        )


def _check_trials(study: Study, trials: int, problems: Problems) -> None:
    depends_on = (("datasets",), ("backbones",), ("embedding_dims",), ("image_sizes",))
    if problems.concern(*depends_on, ("losses",), ("protocol",), ("search",), ("final",)):
        return
    count, reserved = len(searches(study)), num_reserved_trials(study)
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

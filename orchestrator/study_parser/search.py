"""Reads objectives and early stopping of searches, and checks them against the sampler."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import get_args

from orchestrator.search_samplers.coordinate import max_configs
from orchestrator.search_samplers.grid import num_configs
from orchestrator.search_samplers.sampler_names import DO_NOT_LEARN, SamplerName
from orchestrator.search_samplers.suggester import SearchTask
from orchestrator.study.configs import search_task, space_of
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.study import SECONDS, EarlyStopping, Stopping, Study, StudyLoss
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.trained_losses import TrainedLoss, trained_losses
from orchestrator.study_parser.yaml_section import Section, label
from search_spaces.parameters import Choice
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import DatasetSettings
from trainables.tasks import objective_of

_TWO_OBJECTIVES: SamplerName = "nsga-ii"

# Sampler that tries all values -> how many configs they make.
_COUNTED: Mapping[SamplerName, Callable[[SearchTask, int], int | None]] = {
    "grid": num_configs,
    "coordinate": max_configs,
}

# Kind of early stopping -> numbers that it takes.
_NUMBERS: Mapping[Stopping, tuple[str, ...]] = {
    "asha": ("grace_epochs", "reduction_factor"),
    "hyperband": ("grace_epochs", "reduction_factor"),
    "median": ("grace_epochs", "min_trials"),
    "folds": ("reduction_factor",),
    "none": (),
}
_MAX_NUMBER = 100_000
_MOST_CONFIGS = 10_000  # that are counted to tell how many trials are needed
_LOWEST = {"grace_epochs": 1, "reduction_factor": 2, "min_trials": 1}


def read_objectives(
    search: Section, sampler: SamplerName, datasets: Sequence[DatasetSettings]
) -> tuple[str, ...]:
    """The given objectives; by default the metric of the data, and seconds for nsga-ii."""
    metric = _metric(datasets)
    default = (metric, SECONDS) if sampler == _TWO_OBJECTIVES else (metric,)
    return search.texts("objectives", default, choices=(metric, SECONDS))


def read_early_stopping(
    search: Section, problems: Problems, *, default: Stopping
) -> EarlyStopping:
    """The rules in the section ``search``; a number that its kind does not take is a problem."""
    base = EarlyStopping(kind=default)
    node = search.node("early_stopping")
    if node is not None and isinstance(node.value, str):
        return EarlyStopping(kind=search.choice("early_stopping", base.kind, get_args(Stopping)))
    section = search.section("early_stopping", ["kind", *_LOWEST])
    kind: Stopping = section.choice("kind", base.kind, get_args(Stopping))
    for name in _LOWEST:
        if name in section and name not in _NUMBERS[kind] and not section.is_wrong("kind"):
            path, takes = (*section.path, name), " and ".join(_NUMBERS[kind]) or "no number"
            problems.add(
                path, f"{label(path)} cannot be combined with kind {kind}, which takes {takes}"
            )
    return EarlyStopping(
        kind=kind,
        **{
            name: section.integer(name, getattr(base, name), low=low, high=_MAX_NUMBER)
            for name, low in _LOWEST.items()
        },
    )


def check_sampler(study: Study, problems: Problems) -> None:
    """Note search settings that the sampler does not allow, and spaces it cannot search."""
    if problems.concern(("search", "sampler"), ("search", "objectives")):
        return
    _check_objectives(study, problems)
    _check_sharing(study, problems)
    if problems.concern(("losses",), ("search", "space"), ("search", "tune")):
        return
    items = trained_losses(study, problems)
    for index, loss in enumerate(study.losses):
        of_loss = [item for item in items if item.loss == loss.name]
        _check_trials(study, loss, of_loss, problems)
        if study.search.sampler == "cma-es":
            _check_ranges(study, index, problems)


def _metric(datasets: Sequence[DatasetSettings]) -> str:
    for dataset in datasets[:1]:
        with suppress(TrialInputError):  # reported where data sets are checked
            return objective_of(dataset_facts(dataset).task)
    return objective_of("classes")


def _check_objectives(study: Study, problems: Problems) -> None:
    search, path = study.search, ("search", "objectives")
    metric = _metric(study.datasets)
    if search.objectives[0] != metric:
        rule = f"the first of search.objectives selects the winner and must be {metric}"
        problems.add(path, rule, got=list(search.objectives))
    elif (len(search.objectives) == 2) != (search.sampler == _TWO_OBJECTIVES):
        rule = (
            f"{_TWO_OBJECTIVES} searches for two objectives and every other sampler for one: "
            f"search.sampler is {search.sampler}"
        )
        problems.add(path, rule, got=list(search.objectives))
    if not search.wants_seconds:
        return
    if search.early_stopping.kind != "none":
        rule = (
            f"search.early_stopping must be none if {SECONDS} are an objective: those of a "
            "trial that was stopped early cannot be compared"
        )
        problems.add(("search", "early_stopping"), rule, got=search.early_stopping.kind)
    if search.order != "asynchronous":
        rule = (
            f"search.order must be asynchronous if {SECONDS} are an objective: they differ "
            "from run to run, so that suggestions cannot be deterministic"
        )
        problems.add(("search", "order"), rule, got=search.order)


def _check_sharing(study: Study, problems: Problems) -> None:
    search = study.search
    if search.shared_configs and search.sampler not in DO_NOT_LEARN:
        rule = (
            f"search.shared_configs needs a sampler that does not learn from outcomes, or "
            f"searches would get different configs: {', '.join(sorted(DO_NOT_LEARN))}"
        )
        problems.add(("search", "shared_configs"), rule, got=search.sampler)


def _check_trials(
    study: Study, loss: StudyLoss, of_loss: Sequence[TrainedLoss], problems: Problems
) -> None:
    """Note a budget that is too small for the configs tried first, or for the grid."""
    path: Path = ("search", "trials")
    if problems.concern(path, ("search", "warm_start")):
        return
    search = study.search
    num_first = 1 + len(loss.try_first)
    if search.warm_start is not None:
        num_first += search.warm_start.top
    if search.trials < num_first:
        rule = (
            f"search.trials must be at least {num_first} for {loss.name}: its default and the "
            "configs of try_first and warm_start come first"
        )
        problems.add(path, rule, got=search.trials)
    elif search.sampler in _COUNTED:
        count, limit = _COUNTED[search.sampler], max(search.trials, _MOST_CONFIGS) + 1
        needed = [count(search_task(study, item.block, loss.name), limit) for item in of_loss]
        if None in needed:
            rule = (
                f"search.sampler {search.sampler} needs lists of values or ranges with steps, and"
                f" what is searched of {loss.name} has a range without"
            )
            problems.add(("search", "sampler"), rule)
        elif (most := max(filter(None, needed), default=0)) > search.trials:
            rule = (
                f"search.trials must be at least {most} for the sampler {search.sampler} and"
                f" {loss.name}: all its values, and its default"
            )
            problems.add(path, rule, got=search.trials)


def _check_ranges(study: Study, index: int, problems: Problems) -> None:
    loss = study.loss_names[index]
    if all(isinstance(tried, Choice) for tried in space_of(study, loss).parameters.values()):
        rule = f"cma-es needs a range to search, and {loss} has lists of values only"
        problems.add(("losses", index), rule)

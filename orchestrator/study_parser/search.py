"""Reads the section ``search`` of a study file, and checks it against the sampler."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from podium.orchestrator.search_samplers.coordinate import max_configs
from podium.orchestrator.search_samplers.grid import num_configs
from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN, SamplerName
from podium.orchestrator.search_samplers.suggester import SearchTask
from podium.orchestrator.study.configs import search_task, space_of
from podium.orchestrator.study.dataset_facts import dataset_facts
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import SECONDS, SearchSettings, Study, StudyLoss
from podium.orchestrator.study_parser.file_paths import read_storage
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import note_not_taken, read_keys
from podium.orchestrator.study_parser.trained_losses import TrainedLoss, trained_losses
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.search_spaces.parameters import Choice, Value, existing
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.tasks import objective_of

_TWO_OBJECTIVES: SamplerName = "nsga-ii"

# Sampler that tries all values -> how many configs they make.
_COUNTED: Mapping[SamplerName, Callable[[SearchTask, int], int | None]] = {
    "grid": num_configs,
    "coordinate": max_configs,
}

# Kind of early stopping -> numbers that it takes.
_NUMBERS: Mapping[str, str] = {
    "asha": "grace_epochs reduction_factor",
    "hyperband": "grace_epochs reduction_factor",
    "median": "grace_epochs min_trials",
    "folds": "reduction_factor",
    "none": "",
}
_MOST_CONFIGS = 10_000  # that are counted to tell how many trials are needed
_MEMBERS = 64  # of a population at most, where the study says ``auto``
_BATCHES = 4  # in which a sampler that learns gets its budget then


def read_search(
    given: object, datasets: Sequence[DatasetSettings], *, has_heads: bool, problems: Problems
) -> SearchSettings:
    """The section ``search``.

    Args:
        given: its plain values.
        datasets: data sets, whose task has the objective.
        has_heads: whether all trials train an embedding layer alone.
        problems: collects what is wrong.
    """
    if not isinstance(given, dict):
        return read_keys(SearchSettings, given, ("search",), problems)
    metric = _metric(datasets)
    two = given.get("sampler") == _TWO_OBJECTIVES
    values: dict[str, Any] = {"objectives": [metric, SECONDS] if two else [metric], **given}
    wants_seconds = isinstance(values["objectives"], list) and SECONDS in values["objectives"]
    stopping = values.get("early_stopping", {})
    if isinstance(stopping, str):
        stopping = {"kind": stopping}
    if isinstance(stopping, dict):
        stopping = {"kind": "none" if wants_seconds else "asha", **stopping}
    values["early_stopping"] = stopping
    # Members have a part of the seconds of all, which says nothing of their own.
    population = given.get("population", "auto" if has_heads and not wants_seconds else "off")
    if population is False or population in ("auto", "off"):  # YAML takes off for false
        values["population"] = 1
    search = read_keys(SearchSettings, values, ("search",), problems)
    path: Path
    for index, name in enumerate(search.objectives):
        if name not in (metric, SECONDS):
            path = ("search", "objectives", index)
            problems.add(path, f"{label(path)} must be one of {metric}, {SECONDS}", got=name)
    path = ("search", "early_stopping")
    if isinstance(stopping, dict) and not problems.concern((*path, "kind")):
        note_not_taken(path, stopping, search.early_stopping.kind, _NUMBERS, problems)
    if population == "auto":
        share = search.trials if search.sampler in DO_NOT_LEARN else search.trials // _BATCHES
        search = replace(search, population=min(_MEMBERS, max(1, share)))
    if search.warm_start is not None:
        path = ("search", "warm_start", "from")
        folder = read_storage(search.warm_start.folder, path, problems)
        search = replace(search, warm_start=replace(search.warm_start, folder=folder))
    return search


def check_sampler(study: Study, problems: Problems) -> None:
    """Note search settings that the sampler does not allow, and spaces it cannot search."""
    if problems.concern("search.sampler", "search.objectives"):
        return
    _check_objectives(study, problems)
    _check_sharing(study, problems)
    if problems.concern("losses", "search.space", "search.tune"):
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
        problems.add("search.early_stopping", rule, got=search.early_stopping.kind)
    if search.order != "asynchronous":
        rule = (
            f"search.order must be asynchronous if {SECONDS} are an objective: they differ "
            "from run to run, so that suggestions cannot be deterministic"
        )
        problems.add("search.order", rule, got=search.order)


def _check_sharing(study: Study, problems: Problems) -> None:
    search = study.search
    if search.shared_configs and search.sampler not in DO_NOT_LEARN:
        rule = (
            f"search.shared_configs needs a sampler that does not learn from outcomes, or "
            f"searches would get different configs: {', '.join(sorted(DO_NOT_LEARN))}"
        )
        problems.add("search.shared_configs", rule, got=search.sampler)


def _check_trials(
    study: Study, loss: StudyLoss, of_loss: Sequence[TrainedLoss], problems: Problems
) -> None:
    """Note a budget that is too small for the configs tried first, or for the grid."""
    path = "search.trials"
    if problems.concern(path, "search.warm_start"):
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
            problems.add("search.sampler", rule)
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


def check_try_first(study: Study, problems: Problems) -> None:
    """Note hyperparameters that are not searched or do not exist, and configs given twice."""
    if problems.concern("losses", "search.space", "search.tune"):
        return
    items = trained_losses(study, problems)
    for index, loss in enumerate(study.losses):
        conditions = facts_of(loss.name).conditions
        of_loss = [item.values for item in items if item.loss == loss.name]
        # Training settings may make a config the default of some blocks only: not tried there.
        known = {"the default": [existing(values, conditions) for values in of_loss]}
        for number, given in enumerate(loss.try_first):
            path: Path = ("losses", index, "try_first", number)
            _check_names(study, loss.name, given, path, problems)
            configs = [existing({**values, **given}, conditions) for values in of_loss]
            for name in given:
                if all(name not in config for config in configs):
                    rule = f"{label((*path, name))} exists only while {conditions[name]}"
                    problems.add((*path, name), rule)
            same = [what for what, others in known.items() if others == configs]
            if same:
                problems.add(path, f"{label(path)} is the same config as {same[0]}")
            known[label(path)] = configs


def _check_names(
    study: Study, loss: str, given: Mapping[str, Value], path: Path, problems: Problems
) -> None:
    searched = space_of(study, loss).parameters
    for name in given:
        if name not in searched:
            rule = f"{label((*path, name))} is not searched: give it under values"
            problems.add((*path, name), rule, choices=searched)

"""Reads the section ``search`` of a study file."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN, SamplerName
from podium.orchestrator.study.dataset_facts import dataset_facts
from podium.orchestrator.study.study import SECONDS, SearchSettings
from podium.orchestrator.study_parser.file_paths import read_storage
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import note_not_taken, read_keys
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.tasks import objective_of

TWO_OBJECTIVES: SamplerName = "nsga-ii"

# Kind of early stopping -> numbers that it takes.
_NUMBERS: Mapping[str, str] = {
    "asha": "grace_epochs reduction_factor",
    "hyperband": "grace_epochs reduction_factor",
    "median": "grace_epochs min_trials",
    "folds": "reduction_factor",
    "none": "",
}
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
    metric = metric_of(datasets)
    two = given.get("sampler") == TWO_OBJECTIVES
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


def metric_of(datasets: Sequence[DatasetSettings]) -> str:
    """The metric that searches of these data sets maximise."""
    for dataset in datasets[:1]:
        with suppress(TrialInputError):  # reported where data sets are checked
            return objective_of(dataset_facts(dataset).task)
    return objective_of("classes")

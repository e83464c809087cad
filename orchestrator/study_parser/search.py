"""Reads the section ``search`` of a study file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN
from podium.orchestrator.study.study import SearchSettings
from podium.orchestrator.study_parser.file_paths import read_storage
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import note_not_taken, read_keys
from podium.orchestrator.study_parser.yaml_tree import Path

# Kind of early stopping -> numbers that it takes.
_NUMBERS: Mapping[str, str] = {
    "asha": "grace_epochs reduction_factor",
    "folds": "reduction_factor",
    "none": "",
}
_MEMBERS = 64  # of a population at most, where the study says ``auto``
_BATCHES = 4  # in which a sampler that learns gets its budget then


def read_search(given: object, *, has_heads: bool, problems: Problems) -> SearchSettings:
    """The section ``search``.

    Args:
        given: its plain values.
        has_heads: whether all trials train an embedding layer alone.
        problems: collects what is wrong.
    """
    if not isinstance(given, dict):
        return read_keys(SearchSettings, given, ("search",), problems)
    values: dict[str, Any] = dict(given)
    stopping = given.get("early_stopping", {})
    if isinstance(stopping, str):
        stopping = {"kind": stopping}
    values["early_stopping"] = stopping
    population = given.get("population", "auto" if has_heads else "off")
    if population is False or population in ("auto", "off"):  # YAML takes off for false
        values["population"] = 1
    search = read_keys(SearchSettings, values, ("search",), problems)
    path: Path = ("search", "early_stopping")
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

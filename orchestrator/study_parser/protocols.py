"""Reads the validation protocols of a study file: ``protocol`` and ``final.protocol``."""

from collections.abc import Mapping
from dataclasses import asdict, make_dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, get_args

from pydantic import Field, StrictFloat, StrictInt

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.study import Seed
from podium.orchestrator.study_parser.file_paths import (
    MAX_TABLE_BYTES,
    UnreadableError,
    read_path,
    read_text,
)
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import (
    MAX_CROSSED,
    read_items,
    read_keys,
)
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.trainables.settings.trial_settings import ProtocolKind, ProtocolSettings

_Folds = Annotated[StrictInt, Field(ge=2, le=10_000)]

# What kinds take; refit trains on every class, so no search can validate: final.train_on all asks
# for it.
_FRACTION = ("val_fraction", Annotated[StrictFloat, Field(gt=0, lt=1)], 0.1)
_SEED = ("split_seed", Seed, 0)
_TAKES: Mapping[str, tuple[tuple[str, Any, Any], ...]] = {
    "fixed": (_FRACTION, _SEED),
    "kfold": (("folds", _Folds, 10), _SEED),
    "random_splits": (_FRACTION, _SEED),
    "repeated_kfold": (("folds", _Folds, 10), ("repeats", _Folds, 2), _SEED),
    "published": (("classes_file", Text, ""),),
    "test_tuned": (),
}
_KEYS: Mapping[str, Any] = {
    kind: make_dataclass("_Keys", [("name", Text, ""), ("kind", str, kind), *takes])
    for kind, takes in _TAKES.items()
}


def read_protocols(values: object, problems: Problems) -> tuple[ProtocolSettings, ...]:
    """One mapping, or a list of them with different labels, as far as they can be read."""
    if isinstance(values, dict):
        return (_protocol(values, ("protocol",), problems),)
    if not isinstance(values, list):
        rule = "must be a mapping such as {kind: kfold}, or a list of these"
        problems.at("protocol", rule, got=values)
        return (ProtocolSettings(),)
    found: list[ProtocolSettings] = []
    for path, item in read_items(values, ("protocol",), problems, most=MAX_CROSSED):
        protocol = _protocol(item, path, problems)
        same = [other.label for other in found if _splits(other) == _splits(protocol)]
        if problems.concern(path):
            continue
        if same:
            rule = f"is in the list already: it splits the classes as {same[0]} does"
            problems.at(path, rule)
        elif protocol.label.lower() in [other.label.lower() for other in found]:  # also as folders
            rule = f"the protocols of a study need different names: give {label(path)} its own"
            problems.add(path, rule, got=protocol.label)
        else:
            found.append(protocol)
    return tuple(found) or (ProtocolSettings(),)


def read_final_protocol(
    values: object, problems: Problems, split_seed: int
) -> ProtocolSettings | None:
    """The protocol of finals; None if it is that of their search.

    Args:
        values: what is given under ``final.protocol``.
        problems: collects what is wrong.
        split_seed: split seed if none is given.
    """
    if values is None:
        return None
    path: Path = ("final", "protocol")
    protocol = _protocol(values, path, problems)
    if protocol.leaks:  # at an epoch that no test class chose
        problems.at((*path, "kind"), "must not be test_tuned")
    if protocol.name:
        problems.at((*path, "name"), "must not be given: rows have that of the search's protocol")
    has_seed = "split_seed" in values or not protocol.is_seeded
    return protocol if has_seed else replace(protocol, split_seed=split_seed)


def _splits(protocol: ProtocolSettings) -> ProtocolSettings:
    """The protocol without name and file path, which change no number."""
    return replace(protocol, name="", classes_file=None)


def _protocol(values: object, path: Path, problems: Problems) -> ProtocolSettings:
    """One protocol; notes what is wrong, such as keys that its kind does not take."""
    kind = values.get("kind", "fixed") if isinstance(values, dict) else "fixed"
    if str(kind) not in _TAKES:
        problems.at((*path, "kind"), "must be one of the choices", got=kind, choices=_TAKES)
        return ProtocolSettings()
    keys = read_keys(_KEYS[kind], values, path, problems)
    name = keys.name
    if name and not NAME.fullmatch(name):
        rule = f"the name of a protocol names folders: {NAME_RULE}"
        problems.add((*path, "name"), rule, got=name)
    elif name in get_args(ProtocolKind) and name != kind:
        rule = f"the name of a protocol of kind {kind} must not be another kind"
        problems.add((*path, "name"), rule, got=name)
    if problems.concern(path):
        return ProtocolSettings()
    taken = asdict(keys)
    if kind == "published":
        taken["classes_file"], taken["val_classes"] = _classes(keys.classes_file, path, problems)
    return ProtocolSettings(**{"val_fraction": None, **taken})


def _classes(
    given: str, path: Path, problems: Problems
) -> tuple[str | None, tuple[str, ...] | None]:
    """File and names of the validation classes, so that trials do not need the file."""
    key = (*path, "classes_file")
    if not given:
        problems.at(key, "must be given: kind published validates its classes")
    file = read_path(given, key, problems)
    if problems.concern(path):
        return None, None
    try:
        lines = read_text(file, MAX_TABLE_BYTES).splitlines()
    except UnreadableError as error:
        problems.at(key, f"cannot be read: {error}", got=file)
        return None, None
    names = sorted(line.strip() for line in lines if line.strip())
    if twice := [one for one, other in pairwise(names) if one == other]:
        problems.at(key, "names a class more than once", got=twice[0])
    return file, tuple(names)

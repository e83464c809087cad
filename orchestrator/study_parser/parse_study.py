"""Reads the plain values of a study file: keys, types and simple limits.

Combinations of values, also with data sets and networks, are checked by
`orchestrator.study_validation.check_study`.
"""

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, make_dataclass, replace
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, Field, StrictFloat, StrictInt

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN
from podium.orchestrator.study.defaults import (
    are_heads,
    default_image_size,
    default_recipe,
    default_weights,
    is_missing,
)
from podium.orchestrator.study.fairness import DECLARABLE
from podium.orchestrator.study.study import (
    FinalSettings,
    Ks,
    SearchSettings,
    Seed,
    Study,
    StudyTraining,
    TrainOn,
)
from podium.orchestrator.study_parser.file_paths import (
    MAX_TABLE_BYTES,
    UnreadableError,
    read_path,
    read_storage,
    read_text,
)
from podium.orchestrator.study_parser.losses import read_losses, read_values
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import (
    MAX_CROSSED,
    note_unknown,
    read_items,
    read_keys,
    read_mapping,
)
from podium.orchestrator.study_parser.yaml_tree import Given, Path
from podium.trainables.errors import TrialInputError
from podium.trainables.network.initial_weights import weights_problem
from podium.trainables.recipes import RECIPES
from podium.trainables.settings.legal_ranges import OneOf, Parameter, Whole, entry_of
from podium.trainables.settings.legal_ranges import Text as AnyText
from podium.trainables.settings.training_settings import (
    LEGAL_VALUES,
    TRAINING_TYPES,
    HyperparameterValue,
)
from podium.trainables.settings.trial_settings import (
    LOCATION_OPTIONS,
    BackboneSettings,
    DatasetSettings,
    ProtocolKind,
    ProtocolSettings,
)

# Fields of a study that are not keys of its file, or read by what knows more than their type.
_NOT_PLAIN = (
    *("name", "datasets", "backbones", "losses", "protocols", "search", "final", "training"),
    *("warm_starts", "code", "declared_differences", "expect", "ks"),
)
_PLAIN = [it for it in fields(Study) if it.name not in _NOT_PLAIN]
_SECTIONS = (
    *("datasets", "backbones", "losses", "protocol", "search", "final", "training", "metrics"),
    *("declared_differences", "expect"),
)

_TRAINING: Mapping[str, Parameter] = {
    "recipe": Parameter(None, OneOf(tuple(sorted(RECIPES)))),
    **{name: Parameter(None, LEGAL_VALUES.get(name, AnyText())) for name in TRAINING_TYPES},
    "epochs": Parameter(None, Whole(1, 100_000)),  # 0 is for baselines
    "sampler": Parameter(None, entry_of("batch_samplers")),
}


def _folder_name(name: str) -> str:
    if name and not NAME.fullmatch(name):
        raise ValueError(f"names a folder: {NAME_RULE}")
    return name


_Name = Annotated[Text, AfterValidator(_folder_name)]
_Folds = Annotated[StrictInt, Field(ge=2, le=10_000)]

# Kind of protocol -> name, type and default of its keys. refit trains on every class, so no search
# can validate: final.train_on all asks for it.
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
_PROTOCOLS: Mapping[str, Any] = {
    kind: make_dataclass("_Protocol", [("name", _Name, ""), ("kind", str, kind), *takes])
    for kind, takes in _TAKES.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metrics:
    k: Ks = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backbone:
    name: Text = ""
    weights: Text | None = None


_Declared = make_dataclass("_Declared", [(name, Text, "") for name in DECLARABLE], frozen=True)

_Keys = make_dataclass(
    "_Keys",
    [
        ("study", _Name, ""),
        *((it.name, it.type, copy.copy(it)) for it in _PLAIN),
        *((it, Any, None) for it in _SECTIONS),
    ],
    kw_only=True,
)


def read_study(given: Given, problems: Problems) -> Study:
    """The study as far as it can be read; every value that is wrong is noted in ``problems``."""
    values = given.values
    if not isinstance(values, dict):
        problems.add((), "the study must be a mapping", got=values)
        problems.raise_any()
    keys: Any = read_keys(_Keys, values, (), problems)
    name, storage = _place(keys, values, problems)
    if "losses" not in values:
        problems.add("losses", "losses must be given")
    protocols = _protocols(values.get("protocol", {}), problems)
    losses = read_losses(values["losses"], problems) if "losses" in values else ()
    datasets = _datasets(values, problems)
    training = _read_training(values.get("training", {}), datasets, problems)
    backbones = _backbones(values.get("backbones", ["conv_small"]), problems)
    differences = values.get("declared_differences", {})
    declared: Any = read_keys(_Declared, differences, ("declared_differences",), problems)
    size = default_image_size(training.recipe, datasets)
    plain = {it.name: getattr(keys, it.name) for it in _PLAIN} | {
        "storage": storage,
        "image_sizes": keys.image_sizes or (() if size is None else (size,)),
    }
    return Study(
        name=name,
        datasets=datasets,
        backbones=backbones,
        losses=losses,
        protocols=protocols,
        search=_read_search(
            values.get("search", {}), are_heads(training, backbones), problems=problems
        ),
        final=_read_final(values.get("final", {}), protocols[0], problems),
        training=training,
        declared_differences={name: why for name, why in asdict(declared).items() if why},
        ks=read_keys(_Metrics, values.get("metrics", {}), ("metrics",), problems).k,
        **plain,
    )


def read_place(given: Given, problems: Problems) -> tuple[str, str]:
    """Name and storage of the study alone; what is wrong with them is noted."""
    stated = read_mapping(given.values, [it.name for it in fields(_Keys)], (), problems)
    place: dict[str, Any] = {key: stated[key] for key in ("study", "storage") if key in stated}
    return _place(read_keys(_Keys, place, (), problems), place, problems)


def _place(keys: Any, values: Mapping[str, Any], problems: Problems) -> tuple[str, str]:
    storage = keys.storage
    if "study" not in values:
        problems.add("study", "study must be given")
    if "storage" in values and not problems.concern("storage"):
        storage = read_storage(storage, ("storage",), problems)
    return keys.study, storage


def _datasets(values: Mapping[str, Any], problems: Problems) -> tuple[DatasetSettings, ...]:
    given = values.get("datasets", ["glyphs"])
    items = read_items(given, ("datasets",), problems, most=MAX_CROSSED)
    return tuple(_dataset(item, path, problems) for path, item in items)


def _dataset(item: object, path: Path, problems: Problems) -> DatasetSettings:
    """A name, or a mapping of ``name`` and options; the options are the data set's to check."""
    values = {"name": item} if isinstance(item, str) else item
    if not isinstance(values, dict) or "name" not in values:
        problems.at(path, "must be a name, or a mapping with a name", got=item)
        return DatasetSettings(name="")
    options: dict[str, HyperparameterValue] = {}
    for key, value in values.items():
        at = (*path, key)
        if key == "name":
            if not isinstance(value, str) or not value.strip():
                problems.at(at, "must be text that is not blank", got=value)
        elif not isinstance(value, bool | int | float | str):
            problems.at(at, "must be one value", got=value)
        else:
            is_path = key in LOCATION_OPTIONS and isinstance(value, str)
            options[key] = read_path(str(value), at, problems) if is_path else value
    return DatasetSettings(name=str(values["name"]), options=options)


def _read_training(
    given: object, datasets: Sequence[DatasetSettings], problems: Problems
) -> StudyTraining:
    """Recipe and overrides, each of its type and in its range."""
    overrides = read_values(given, _TRAINING, ("training",), problems)
    recipe = str(overrides.pop("recipe", default_recipe(datasets)))
    return StudyTraining(recipe=recipe, overrides=overrides)


def _read_final(given: object, protocol: ProtocolSettings, problems: Problems) -> FinalSettings:
    """The section ``final``; its protocol has the split seed of the searches' unless it says."""
    values: Any = dict(given) if isinstance(given, dict) else given
    own = values.pop("protocol", None) if isinstance(values, dict) else None
    final = read_keys(FinalSettings, values, ("final",), problems)
    return replace(
        final,
        protocol=None if own is None else _final_protocol(own, protocol.split_seed, problems),
        train_on=tuple(it for it in get_args(TrainOn) if it in final.train_on),
    )


def _final_protocol(values: object, split_seed: int, problems: Problems) -> ProtocolSettings:
    path: Path = ("final", "protocol")
    protocol = _protocol(values, path, problems)
    if protocol.leaks:  # at an epoch that no test class chose
        problems.at((*path, "kind"), "must not be test_tuned")
    if protocol.name:
        problems.at((*path, "name"), "must not be given: rows have that of the search's protocol")
    has_seed = not protocol.is_seeded or (isinstance(values, dict) and "split_seed" in values)
    return protocol if has_seed else replace(protocol, split_seed=split_seed)


def _protocols(values: object, problems: Problems) -> tuple[ProtocolSettings, ...]:
    """One mapping, or a list of them with different labels, as far as they can be read."""
    if not isinstance(values, list):
        return (_protocol(values, ("protocol",), problems),)
    found: list[ProtocolSettings] = []
    for path, item in read_items(values, ("protocol",), problems, most=MAX_CROSSED):
        protocol = _protocol(item, path, problems)
        for other in found if not problems.concern(path) else ():
            # Neither name nor path of the file changes a number.
            if replace(protocol, name=other.name, classes_file=other.classes_file) == other:
                problems.at(path, f"is in the list already: it splits as {other.label} does")
            elif protocol.label.lower() == other.label.lower():  # as folders, too
                problems.at(path, "must have a name of its own", got=protocol.label)
        found.append(protocol)
    return tuple(found) or (ProtocolSettings(),)


def _protocol(values: object, path: Path, problems: Problems) -> ProtocolSettings:
    """One protocol; notes what is wrong, such as keys that its kind does not take."""
    kind = values.get("kind", "fixed") if isinstance(values, dict) else "fixed"
    if str(kind) not in _TAKES:
        problems.at((*path, "kind"), "must be one of the choices", got=kind, choices=_TAKES)
        return ProtocolSettings()
    keys = read_keys(_PROTOCOLS[kind], values, path, problems)
    if keys.name in get_args(ProtocolKind) and keys.name != kind:
        problems.at((*path, "name"), "must not be another kind of protocol", got=keys.name)
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


# Kind of early stopping -> its keys.
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "asha": ("kind", "grace_epochs", "reduction_factor"),
    "folds": ("kind", "reduction_factor"),
    "none": ("kind",),
}
_MEMBERS = 64  # of a population at most, where the study says ``auto``
_BATCHES = 4  # in which a sampler that learns gets its budget then


def _read_search(given: object, has_heads: bool, problems: Problems) -> SearchSettings:
    """The section ``search``; ``has_heads``: whether all trials train an embedding layer alone."""
    values: Any = dict(given) if isinstance(given, dict) else {}
    stopping = values.get("early_stopping")
    if isinstance(stopping, str):
        values["early_stopping"] = {"kind": stopping}
    population = values.get("population", "auto" if has_heads else "off")
    if population is False or population in ("auto", "off"):  # YAML takes off for false
        values["population"] = 1
    values = values if isinstance(given, dict) else given
    search = read_keys(SearchSettings, values, ("search",), problems)
    if problems.concern("search"):
        return search
    takes = _NUMBERS[search.early_stopping.kind]
    for key in values.get("early_stopping", {}):
        if key not in takes:
            note_unknown(("search", "early_stopping", key), takes, problems)
    if population == "auto":
        share = search.trials if search.sampler in DO_NOT_LEARN else search.trials // _BATCHES
        search = replace(search, population=min(_MEMBERS, max(1, share)))
    if search.warm_start is None:
        return search
    folder = read_storage(search.warm_start.folder, ("search", "warm_start", "from"), problems)
    return replace(search, warm_start=replace(search.warm_start, folder=folder))


def _backbones(values: object, problems: Problems) -> tuple[BackboneSettings, ...]:
    """All backbones of the study, no two of one name; weights in a file by its absolute path."""
    found: dict[str, BackboneSettings] = {}
    for path, item in read_items(values, ("backbones",), problems, most=MAX_CROSSED):
        backbone = _backbone(item, path, problems)
        if backbone.name in found:
            rule = "is in the list already: different weights need a different study"
            problems.at(path, rule, got=backbone.name)
        found[backbone.name] = backbone
    return tuple(found.values())


def _backbone(item: object, path: Path, problems: Problems) -> BackboneSettings:
    given = {"name": item} if isinstance(item, str) else item
    keys = read_keys(_Backbone, given, path, problems)
    if not keys.name and not problems.concern(path):
        problems.at(path, "must be a name, or a mapping with a name and weights", got=item)
    weights, weights_path = keys.weights, (*path, "weights")
    if weights and (os.sep in weights or weights.startswith("~") or FilePath(weights).suffix):
        weights = read_path(weights, weights_path, problems)
    backbone = BackboneSettings(name=keys.name, weights=weights or "")
    if problems.concern(path):
        return backbone
    try:
        backbone = replace(backbone, weights=weights or default_weights(keys.name))
        if not is_missing(backbone) and (problem := weights_problem(backbone)):
            problems.add(weights_path if weights else path, problem)
    except TrialInputError as error:
        problems.add(path, str(error))
    return backbone

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
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictFloat, StrictInt

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
    StudyLoss,
    StudyTraining,
    TrainOn,
)
from podium.orchestrator.study_parser.file_paths import (
    MAX_TABLE_BYTES,
    UnreadableError,
    base_folder,
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
)
from podium.orchestrator.study_parser.yaml_tree import Given, Path
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.network.initial_weights import weights_problem
from podium.trainables.own_files import files_of, read_named
from podium.trainables.recipes import RECIPES
from podium.trainables.settings.legal_ranges import OneOf, Parameter, Whole, entry_of
from podium.trainables.settings.legal_ranges import Text as AnyText
from podium.trainables.settings.training_settings import LEGAL_VALUES, TRAINING_TYPES
from podium.trainables.settings.trial_settings import (
    LOCATION_OPTIONS,
    BackboneSettings,
    DatasetSettings,
    ProtocolKind,
    ProtocolSettings,
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

# Kind of protocol -> its keys. refit trains on every class, so no search can validate:
# final.train_on all asks for it.
_TAKES: Mapping[str, tuple[str, ...]] = {
    "fixed": ("val_fraction", "split_seed"),
    "kfold": ("folds", "split_seed"),
    "random_splits": ("val_fraction", "split_seed"),
    "repeated_kfold": ("folds", "repeats", "split_seed"),
    "published": ("classes_file",),
    "test_tuned": (),
}
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "asha": ("grace_epochs", "reduction_factor"),
    "folds": ("reduction_factor",),
    "none": (),
}
"""Kind of early stopping -> its keys."""
_MEMBERS = 64  # of a population at most, where the study says ``auto``
_BATCHES = 4  # in which a sampler that learns gets its budget then


@dataclass(frozen=True, slots=True, kw_only=True)
class _Protocol:
    kind: Literal["fixed", "kfold", "random_splits", "repeated_kfold", "published", "test_tuned"]
    name: _Name = ""
    val_fraction: Annotated[StrictFloat, Field(gt=0, lt=1)] = 0.1
    folds: _Folds = 10
    repeats: _Folds = 2
    split_seed: Seed = 0
    classes_file: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backbone:
    name: Text
    weights: Text | None = None


_Metrics = make_dataclass("_Metrics", [("k", Ks, (1, 2, 4, 8))], frozen=True)
_Declared = make_dataclass("_Declared", [(name, Text, "") for name in DECLARABLE], frozen=True)


def _plain_search(given: object) -> object:
    """The section ``search`` without words in place of a mapping or a number."""
    if not isinstance(given, dict):
        return given
    values = {**given}
    if isinstance(kind := values.get("early_stopping"), str):
        values["early_stopping"] = {"kind": kind}
    population = values.get("population")
    if population is False or population in ("auto", "off"):  # YAML takes off for false
        del values["population"]
    return values


def _without_protocol(given: object) -> object:
    if not isinstance(given, dict):
        return given
    return {key: value for key, value in given.items() if key != "protocol"}


# Fields of a study that are read as they are.
_PLAIN = [
    *("embedding_dims", "resources", "budget", "image_sizes", "tournament", "keep"),
    *("log", "quarantine", "seed", "storage"),
]
# Sections that are read by what knows more than their type.
_OTHERS = ("datasets", "backbones", "protocol", "training", "expect")
_Keys = make_dataclass(
    "_Keys",
    [
        ("study", _Name),
        ("losses", Any),
        *((it.name, it.type, copy.copy(it)) for it in fields(Study) if it.name in _PLAIN),
        *((name, Any, None) for name in _OTHERS),
        ("search", Annotated[SearchSettings, BeforeValidator(_plain_search)], SearchSettings()),
        ("final", Annotated[FinalSettings, BeforeValidator(_without_protocol)], FinalSettings()),
        ("metrics", _Metrics, _Metrics()),
        ("declared_differences", _Declared, _Declared()),
    ],
    kw_only=True,
)


def read_study(given: Given, problems: Problems) -> Study:
    """The study of these values, whose combinations are not checked.

    Raises:
        StudyError: a value is wrong; says all of them.
    """
    values = given.values
    if not isinstance(values, dict):
        problems.add((), "the study must be a mapping", got=values)
        problems.raise_any()
    keys: Any = read_keys(_Keys, values, (), problems)
    losses = read_losses(values["losses"], problems) if "losses" in values else ()
    datasets = _datasets(values.get("datasets", ["glyphs"]), problems)
    overrides = read_values(values.get("training", {}), _TRAINING, ("training",), problems)
    if given_transform := overrides.get("transform"):
        overrides["transform"] = _transform(str(given_transform), losses, problems)
    recipe = str(overrides.pop("recipe", default_recipe(datasets)))
    training = StudyTraining(recipe=recipe, overrides=overrides)
    backbones = _backbones(values.get("backbones", ["conv_small"]), problems)
    protocols = _protocols(values.get("protocol", {}), problems)
    final = keys and _final(keys.final, values.get("final", {}), protocols, problems)
    search = keys and _search(
        keys.search, values.get("search", {}), are_heads(training, backbones), problems
    )
    plain: dict[str, Any] = {name: getattr(keys, name, None) for name in _PLAIN}
    if keys and "storage" in values:
        plain["storage"] = read_storage(keys.storage, ("storage",), problems)
    problems.raise_any()
    size = default_image_size(recipe, datasets)
    plain["image_sizes"] = keys.image_sizes or (() if size is None else (size,))
    declared = asdict(keys.declared_differences)
    return Study(
        name=keys.study,
        datasets=datasets,
        backbones=backbones,
        losses=losses,
        protocols=protocols,
        search=search,
        final=final,
        training=training,
        declared_differences={name: why for name, why in declared.items() if why},
        ks=keys.metrics.k,
        **plain,
    )


def _transform(given: str, losses: Sequence[StudyLoss], problems: Problems) -> str:
    """The name of a transform, whose file is read; what is wrong with it is noted."""
    path = ("training", "transform")
    read = {file: data for loss in losses for file, data in files_of(loss.name).items()}
    try:
        name = read_named(given, base_folder(problems.position(path)))
    except TrialInputError as error:
        problems.add(path, str(error))
        return given
    if any(read.get(file, data) != data for file, data in files_of(name).items()):
        problems.at(path, "must be in a file of another name than those of losses", got=given)
    return name


def read_place(given: Given, problems: Problems) -> tuple[str, str]:
    """Name and storage of the study alone.

    Raises:
        StudyError: they are wrong.
    """
    values = given.values if isinstance(given.values, dict) else {}
    stated = {key: values[key] for key in ("study", "storage") if key in values}
    keys: Any = read_keys(_Keys, {"losses": None, **stated}, (), problems)
    problems.raise_any()
    storage = read_storage(keys.storage, ("storage",), problems) if "storage" in stated else ""
    problems.raise_any()
    return keys.study, storage or keys.storage


def _datasets(given: object, problems: Problems) -> tuple[DatasetSettings, ...]:
    found: dict[str, DatasetSettings] = {}
    said: set[str] = set()  # of several data sets within one folder that is missing
    for path, item in read_items(given, ("datasets",), problems, most=MAX_CROSSED):
        dataset = _dataset(item, path, problems)
        if dataset is None or problems.concern(path):
            continue
        label = dataset.label
        if label in found:
            rule = "the data sets of a study must differ: give one of them another label"
            problems.add(path, rule, got=label)
        elif not NAME.fullmatch(label):
            rule = f"the label of a data set names folders: {NAME_RULE}"
            problems.add(path, rule, got=label)
        found[label] = dataset
        try:
            dataset_facts(dataset)
        except TrialInputError as error:
            if str(error) not in said:
                problems.add(path, str(error))
            said.add(str(error))
    return tuple(found.values())


def _dataset(item: object, path: Path, problems: Problems) -> DatasetSettings | None:
    """A name, or a mapping of ``name`` and options, which are the data set's to check."""
    values = {"name": item} if isinstance(item, str) else item
    if not isinstance(values, dict) or not str(values.get("name", "")).strip():
        problems.at(path, "must be a name, or a mapping with a name", got=item)
        return None
    if ".py:" in str(values["name"]):
        rule = (
            f"`podium datasets fetch {values['name']} DIR` makes a folder of it, once: then name"
            " {name: folder, root: DIR}"
        )
        problems.add(path, rule, got=values["name"])
        return None
    options = dict(values)
    for key, value in values.items():
        if not isinstance(value, bool | int | float | str):
            problems.at((*path, key), "must be one value", got=value)
        elif key in LOCATION_OPTIONS and isinstance(value, str):
            options[key] = read_path(value, (*path, key), problems)
    return DatasetSettings(name=str(options.pop("name")), options=options)


def _final(
    final: FinalSettings, given: Any, protocols: Sequence[ProtocolSettings], problems: Problems
) -> FinalSettings:
    """The section ``final`` with its protocol, whose split seed is the searches' unless given."""
    train_on = tuple(it for it in get_args(TrainOn) if it in final.train_on)
    own, path = given.get("protocol"), ("final", "protocol")
    protocol = None if own is None else _protocol(own, path, problems)
    if protocol is None:
        return replace(final, train_on=train_on)
    if protocol.leaks or protocol.name:  # rows have the name of the search's protocol
        problems.at(path, "must not be test_tuned, or have a name", got=own)
    if protocol.is_seeded and "split_seed" not in own and protocols:
        protocol = replace(protocol, split_seed=protocols[0].split_seed)
    return replace(final, train_on=train_on, protocol=protocol)


def _protocols(given: object, problems: Problems) -> tuple[ProtocolSettings, ...]:
    """One mapping, or a list of them with different labels, as far as they can be read."""
    items: list[tuple[Path, Any]] = [(("protocol",), given)]
    if isinstance(given, list):
        items = read_items(given, ("protocol",), problems, most=MAX_CROSSED)
    found: list[ProtocolSettings] = []
    for path, item in items:
        protocol = _protocol(item, path, problems)
        if protocol is None:
            continue
        for other in found:
            # Neither name nor path of the file changes a number.
            if replace(protocol, name=other.name, classes_file=other.classes_file) == other:
                problems.at(path, f"is in the list already: it splits as {other.label} does")
            elif protocol.label.lower() == other.label.lower():  # as folders, too
                problems.at(path, "must have a name of its own", got=protocol.label)
        found.append(protocol)
    return tuple(found)


def _protocol(given: object, path: Path, problems: Problems) -> ProtocolSettings | None:
    """One protocol; None if something is wrong, such as a key that its kind does not take."""
    values = {"kind": "fixed", **given} if isinstance(given, dict) else given
    keys = read_keys(_Protocol, values, path, problems)
    if keys is None:
        return None
    takes = _TAKES[keys.kind]
    _refuse_others(values, (*takes, "kind", "name"), path, problems)
    if keys.name in get_args(ProtocolKind) and keys.name != keys.kind:
        problems.at((*path, "name"), "must not be another kind of protocol", got=keys.name)
    if problems.concern(path):
        return None
    taken = {"val_fraction": None, **{name: getattr(keys, name) for name in takes}}
    if keys.kind == "published":
        taken["classes_file"], taken["val_classes"] = _classes(keys.classes_file, path, problems)
    return ProtocolSettings(kind=keys.kind, name=keys.name, **taken)


def _refuse_others(given: Any, takes: Sequence[str], path: Path, problems: Problems) -> None:
    for key in given:
        if key not in takes:
            note_unknown((*path, key), takes, problems)


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


def _search(
    search: SearchSettings, given: Any, has_heads: bool, problems: Problems
) -> SearchSettings:
    """The section ``search``; ``has_heads``: whether all trials train an embedding layer alone."""
    stopping = given.get("early_stopping", {})
    if isinstance(stopping, dict):
        takes = ("kind", *_NUMBERS[search.early_stopping.kind])
        _refuse_others(stopping, takes, ("search", "early_stopping"), problems)
    if given.get("population", "auto" if has_heads else "off") == "auto":
        share = search.trials if search.sampler in DO_NOT_LEARN else search.trials // _BATCHES
        search = replace(search, population=min(_MEMBERS, max(1, share)))
    if search.warm_start is None:
        return search
    folder = read_storage(search.warm_start.folder, ("search", "warm_start", "from"), problems)
    return replace(search, warm_start=replace(search.warm_start, folder=folder))


def _backbones(given: object, problems: Problems) -> tuple[BackboneSettings, ...]:
    """All backbones of the study, no two of one name; weights in a file by its absolute path."""
    found: dict[str, BackboneSettings] = {}
    for path, item in read_items(given, ("backbones",), problems, most=MAX_CROSSED):
        values = {"name": item} if isinstance(item, str) else item
        keys = read_keys(_Backbone, values, path, problems)
        if keys is None:
            continue
        if keys.name in found:
            rule = "is in the list already: different weights need a different study"
            problems.at(path, rule, got=keys.name)
        found[keys.name] = _backbone(keys, path, problems)
    return tuple(found.values())


def _backbone(keys: _Backbone, path: Path, problems: Problems) -> BackboneSettings:
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

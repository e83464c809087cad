"""Reads a `Study` from a study file: keys, types and simple limits.

Combinations of values, also with data sets and networks, are checked by
`orchestrator.study_validation.check_study`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, make_dataclass, replace
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.results.records.study_keys import Several, Text
from podium.orchestrator.results.records.tournament_rules import TournamentRules
from podium.orchestrator.results.storage.locations import has_scheme
from podium.orchestrator.study.defaults import are_heads, default_image_size, default_recipe
from podium.orchestrator.study.fairness import DECLARABLE
from podium.orchestrator.study.study import (
    BudgetSettings,
    Dims,
    FinalSettings,
    KeepSettings,
    Ks,
    Quarantine,
    Repeats,
    ResourceSettings,
    Seed,
    Sizes,
    Study,
    StudyTraining,
    TrainOn,
)
from podium.orchestrator.study_parser.backbones import read_backbones
from podium.orchestrator.study_parser.file_paths import read_path, read_storage
from podium.orchestrator.study_parser.losses import read_losses
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.protocols import read_final_protocol, read_protocols
from podium.orchestrator.study_parser.read_keys import (
    MAX_CROSSED,
    note_unknown,
    read_items,
    read_keys,
    read_mapping,
)
from podium.orchestrator.study_parser.search import read_search
from podium.orchestrator.study_parser.yaml_tree import Given, Path
from podium.trainables.recipes import RECIPES
from podium.trainables.settings.legal_ranges import MAX_SEED, OneOf
from podium.trainables.settings.training_settings import (
    LEGAL_VALUES,
    TRAINING_TYPES,
    HyperparameterValue,
)
from podium.trainables.settings.trial_settings import (
    LOCATION_OPTIONS,
    VERIFICATION_PAIRS,
    DatasetSettings,
)

# Training setting -> lowest integer that is read; 0 where none is here.
_LOWEST = {"epochs": 1, "batch_size": 1, "samples_per_class": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metrics:
    k: Ks = (1, 2, 4, 8)
    verification: Any = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    name: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    pairs: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Final:
    seeds: Repeats = FinalSettings().seeds
    protocol: Any = None
    train_on: Several[TrainOn] = FinalSettings().train_on


_Declared = make_dataclass("_Declared", [(name, Text, "") for name in DECLARABLE], frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """The keys of a study file; those of any type have readers of their own."""

    study: Text = "study"
    datasets: Any = None
    backbones: Any = None
    embedding_dims: Dims = (32,)
    image_sizes: Sizes = ()
    losses: Any = None
    protocol: Any = None
    search: Any = None
    final: _Final = field(default_factory=_Final)
    training: Any = None
    quarantine: Quarantine = "none"
    metrics: _Metrics = field(default_factory=_Metrics)
    keep: KeepSettings = field(default_factory=KeepSettings)
    resources: ResourceSettings = field(default_factory=ResourceSettings)
    seed: Seed = 0
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    storage: Text = "podium-results"
    tournament: TournamentRules = field(default_factory=TournamentRules)
    declared_differences: Any = None
    expect: Any = None


def _training_type(name: str, kind: type) -> Any:
    """The type of a setting in a study file; ranges are checked together with the recipe."""
    if kind is int:
        return Annotated[StrictInt, Field(ge=_LOWEST.get(name, 0), le=MAX_SEED)]
    legal = LEGAL_VALUES.get(name)
    choices: Any = Literal[legal.values] if isinstance(legal, OneOf) else Text
    return {bool: StrictBool, float: StrictFloat, str: choices}[kind]


_Training = make_dataclass(
    "_Training",
    [
        ("recipe", Literal[tuple(sorted(RECIPES))], None),
        *((name, _training_type(name, kind), None) for name, kind in TRAINING_TYPES.items()),
    ],
)


def read_study(given: Given, problems: Problems) -> Study:
    """The study as far as it can be read.

    Every value that is wrong is noted in ``problems`` and replaced by its default.
    """
    keys, values = _top(given, problems), given.values
    name, storage = _place(keys, values, problems)
    if "losses" not in values:
        problems.add("losses", "losses must be given")
    protocols = read_protocols(values.get("protocol", {}), problems)
    losses = read_losses(values["losses"], problems) if "losses" in values else ()
    datasets = _with_pairs(_datasets(values, problems), keys.metrics.verification, problems)
    training = _read_training(values.get("training", {}), datasets, problems)
    backbones = read_backbones(values.get("backbones", ["conv_small"]), problems)
    names = [backbone.name for backbone in backbones]
    differences = values.get("declared_differences", {})
    declared: Any = read_keys(_Declared, differences, ("declared_differences",), problems)
    standard_size = default_image_size(training.recipe, datasets)
    return Study(
        name=name,
        datasets=datasets,
        backbones=backbones,
        embedding_dims=keys.embedding_dims,
        image_sizes=keys.image_sizes or (() if standard_size is None else (standard_size,)),
        losses=losses,
        protocols=protocols,
        search=read_search(
            values.get("search", {}),
            datasets,
            has_heads=are_heads(training, backbones),
            problems=problems,
        ),
        final=FinalSettings(
            seeds=keys.final.seeds,
            protocol=read_final_protocol(keys.final.protocol, problems, protocols[0].split_seed),
            train_on=tuple(it for it in get_args(TrainOn) if it in keys.final.train_on),
        ),
        training=training,
        resources=_with_known_backbones(keys.resources, names, problems),
        budget=keys.budget,
        declared_differences={name: why for name, why in asdict(declared).items() if why},
        tournament=keys.tournament,
        keep=keys.keep,
        quarantine=keys.quarantine,
        ks=keys.metrics.k,
        verification=isinstance(keys.metrics.verification, dict) or keys.metrics.verification,
        seed=keys.seed,
        storage=storage,
    )


def read_place(given: Given, problems: Problems) -> tuple[str, str]:
    """Name and storage of the study alone; what is wrong with them is noted."""
    stated = read_mapping(given.values, _Keys.__dataclass_fields__, (), problems)
    place: dict[str, Any] = {key: stated[key] for key in ("study", "storage") if key in stated}
    return _place(read_keys(_Keys, place, (), problems), place, problems)


def _top(given: Given, problems: Problems) -> _Keys:
    """The keys of the study; raises what is wrong where there are none."""
    if not isinstance(given.values, dict):
        problems.add((), "the study must be a mapping", got=given.values)
        problems.raise_any()
    return read_keys(_Keys, given.values, (), problems)


def _place(keys: _Keys, values: Mapping[str, Any], problems: Problems) -> tuple[str, str]:
    if "study" not in values:
        problems.add("study", "study must be given")
    elif not NAME.fullmatch(keys.study) and not problems.concern("study"):
        problems.add("study", f"study names a folder: {NAME_RULE}", got=keys.study)
    if "storage" not in values or problems.concern("storage"):
        return keys.study, keys.storage
    return keys.study, read_storage(keys.storage, ("storage",), problems, holds=keys.study)


def _datasets(values: Mapping[str, Any], problems: Problems) -> tuple[DatasetSettings, ...]:
    given = values.get("datasets", ["glyphs"])
    items = read_items(given, ("datasets",), problems, most=MAX_CROSSED)
    return tuple(_dataset(item, path, problems) for path, item in items)


def _dataset(item: object, path: Path, problems: Problems) -> DatasetSettings:
    """A name, or a mapping of ``name`` and options; the options are the data set's to check."""
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, dict) or "name" not in item:
        rule = f"{label(path)} must be a name, or a mapping with a name"
        problems.add(path, rule, got=item)
        return DatasetSettings(name="")
    options: dict[str, HyperparameterValue] = {}
    for key, value in item.items():
        at = (*path, key)
        if key == "name":
            continue
        if not isinstance(value, bool | int | float | str):
            problems.add(at, f"{label(at)} must be one value", got=value)
        elif key == VERIFICATION_PAIRS:
            problems.add(at, "a file of pairs is named by metrics.verification.pairs")
        elif key in LOCATION_OPTIONS and isinstance(value, str):
            options[key] = read_path(value, at, problems)
        else:
            options[key] = value
    name = read_keys(_Name, {"name": item["name"]}, path, problems).name
    return DatasetSettings(name=name, options=options)


def _with_pairs(
    datasets: tuple[DatasetSettings, ...], verification: object, problems: Problems
) -> tuple[DatasetSettings, ...]:
    """The one data set of a study, with the file of pairs of its images if there is one."""
    section: Path = ("metrics", "verification")
    if not isinstance(verification, dict):
        if not isinstance(verification, bool):
            problems.add(section, f"{label(section)} must be true or false", got=verification)
        return datasets
    path = (*section, "pairs")
    pairs = read_keys(_Pairs, verification, section, problems).pairs
    if "pairs" not in verification:
        problems.add(section, f"{label(path)} must be given; without a file it is true")
    if not pairs:
        return datasets
    pairs = read_path(pairs, path, problems)
    if has_scheme(pairs):
        problems.add(path, f"{label(path)} must be a file of this machine", got=pairs)
    if len(datasets) > 1:
        rule = f"{label(path)} names images of one data set, and the study has {len(datasets)}"
        problems.add(path, rule)
        return datasets
    return tuple(
        replace(only, options={**only.options, VERIFICATION_PAIRS: pairs}) for only in datasets
    )


def _read_training(
    given: object, datasets: Sequence[DatasetSettings], problems: Problems
) -> StudyTraining:
    """Recipe and overrides, each of its type. Ranges are checked together with the recipe."""
    read = asdict(read_keys(_Training, given, ("training",), problems))
    recipe = read.pop("recipe") or default_recipe(datasets)
    overrides = {name: value for name, value in read.items() if value is not None}
    return StudyTraining(recipe=recipe, overrides=overrides)


def _with_known_backbones(
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

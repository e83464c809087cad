"""Reads a `Study` from the tree of a study file: keys, types and simple limits.

Combinations of values, also with data sets and networks, are checked by
`orchestrator.study_validation.check_study`.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Literal, get_args

from orchestrator.results.storage.locations import has_scheme, parse_place
from orchestrator.search_samplers.sampler_names import DO_NOT_LEARN, SAMPLERS, SamplerName
from orchestrator.study.defaults import are_heads, default_image_size, default_recipe
from orchestrator.study.study import (
    SECONDS,
    FinalSettings,
    KeepSettings,
    Quarantine,
    SearchSettings,
    Splits,
    Study,
    StudyTraining,
    TrainOn,
    WarmStart,
)
from orchestrator.study_parser.backbones import read_backbones
from orchestrator.study_parser.declared_differences import DECLARED, read_declared
from orchestrator.study_parser.expected_values import EXPECT
from orchestrator.study_parser.file_paths import read_path
from orchestrator.study_parser.losses import read_losses
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.protocols import read_final_protocol, read_protocols
from orchestrator.study_parser.resources import read_budget, read_resources
from orchestrator.study_parser.search import read_early_stopping, read_objectives
from orchestrator.study_parser.tournament import read_tournament
from orchestrator.study_parser.yaml_section import MAX_CROSSED, Section, label
from orchestrator.study_parser.yaml_tree import Node
from podium.errors import StoreError
from trainables.recipes import RECIPES
from trainables.settings.legal_ranges import MAX_DIM, MAX_IMAGE_SIZE, MAX_SEED, OneOf
from trainables.settings.training_settings import LEGAL_VALUES, TRAINING_TYPES, HyperparameterValue
from trainables.settings.trial_settings import (
    LOCATION_OPTIONS,
    VERIFICATION_PAIRS,
    DatasetSettings,
)

_KEYS = (
    *("study", "datasets", "backbones", "embedding_dims", "image_sizes", "losses", "protocol"),
    *("search", "final", "training", "quarantine", "metrics", "keep", "resources", "seed"),
    *("budget", "storage", "tournament", DECLARED, EXPECT),
)

_VERIFICATION = "verification"
_TRAINING_KEYS = ("recipe", *TRAINING_TYPES)
_DEFAULT_DATASETS = (DatasetSettings(name="glyphs"),)
_DEFAULT_DIMS = (32,)
# The only neighbour of a one-dimensional unit vector is itself or its opposite.
_MIN_DIM = 2

# Far above what any design needs, and below what no machine ever ends.
_MAX_K = 1_000_000  # images of a class at most
_MAX_TRIALS = 100_000  # of one search
_MAX_MEMBERS = 10_000  # of a population
_MEMBERS = 64  # of a population at most, where the study says ``auto``
_BATCHES = 4  # in which a sampler that learns gets its budget then
_MAX_REPEATS = 1_000  # of searches, and seeds of a final
MAX_CONCURRENT = 100_000
"""Trials at a time."""

# Training setting -> lowest integer that is read; 0 where none is here.
_LOWEST = {"epochs": 1, "batch_size": 1, "samples_per_class": 1}

_ORDERS: tuple[Literal["asynchronous", "deterministic"], ...] = ("asynchronous", "deterministic")


def read_study(root: Node, problems: Problems) -> Study:
    """The study as far as it can be read.

    Every value that is wrong is noted in ``problems`` and replaced by its default.
    """
    top = _top(root, problems)
    name, storage = _place(top, problems)
    if "losses" not in top:
        problems.add(("losses",), "losses must be given")
    protocols = read_protocols(top, problems)
    losses = read_losses(top, problems)
    metrics = top.section("metrics", ("k", _VERIFICATION))
    datasets = _with_pairs(_datasets(top, problems), metrics, problems)
    training = _read_training(top.section("training", _TRAINING_KEYS), datasets)
    backbones = read_backbones(top, problems)
    search = _search(
        top.section("search", _names(SearchSettings)),
        datasets,
        problems,
        with_heads=are_heads(training, backbones),
    )
    return Study(
        name=name,
        datasets=datasets,
        backbones=backbones,
        embedding_dims=top.integers("embedding_dims", _DEFAULT_DIMS, low=_MIN_DIM, high=MAX_DIM),
        image_sizes=_image_sizes(top, datasets, training.recipe),
        losses=losses,
        protocols=protocols,
        search=search,
        final=_final(top, protocols[0].split_seed, problems),
        training=training,
        resources=read_resources(top, backbones, problems),
        budget=read_budget(top),
        declared_differences=read_declared(top),
        tournament=read_tournament(top),
        keep=_keep(top.section("keep", _names(KeepSettings))),
        quarantine=top.choice("quarantine", "none", get_args(Quarantine)),
        ks=metrics.integers("k", (1, 2, 4, 8), low=1, high=_MAX_K),
        verification=_verifies(metrics),
        seed=top.integer("seed", 0, low=0, high=MAX_SEED),
        storage=storage,
    )


def read_place(root: Node, problems: Problems) -> tuple[str, str]:
    """Name and storage of the study alone; what is wrong with them is noted."""
    return _place(_top(root, problems), problems)


def _top(root: Node, problems: Problems) -> Section:
    """The keys of the study; raises what is wrong where there are none."""
    if not isinstance(root.value, dict):
        problems.add((), "the study must be a mapping", got=root.plain())
        problems.raise_any()
    return Section(root, (), problems, _KEYS)


def _place(top: Section, problems: Problems) -> tuple[str, str]:
    if "study" not in top:
        problems.add(("study",), "study must be given")
    name = top.text("study", "study")
    return name, _storage_location(top, "storage", "podium-results", problems, holds=name)


def _names(settings: type) -> list[str]:
    return [field.name for field in fields(settings)]


def _datasets(top: Section, problems: Problems) -> tuple[DatasetSettings, ...]:
    if "datasets" not in top:
        return _DEFAULT_DATASETS
    return tuple(
        _dataset(item, path, problems) for path, item in top.items("datasets", most=MAX_CROSSED)
    )


def _dataset(node: Node, path: Path, problems: Problems) -> DatasetSettings:
    """A name, or a mapping of ``name`` and options; the options are the data set's to check."""
    if isinstance(node.value, str):
        return DatasetSettings(name=node.value)
    if not isinstance(node.value, dict) or "name" not in node.value:
        rule = f"{label(path)} must be a name, or a mapping with a name"
        problems.add(path, rule, got=node.plain())
        return DatasetSettings(name="")
    section = Section(node, path, problems, list(node.value))
    options: dict[str, HyperparameterValue] = {}
    for key, value in node.value.items():
        if not isinstance(value.value, bool | int | float | str):
            problems.add(
                (*path, key), f"{label((*path, key))} must be one value", got=value.plain()
            )
        elif key == VERIFICATION_PAIRS:
            problems.add((*path, key), "a file of pairs is named by metrics.verification.pairs")
        elif key in LOCATION_OPTIONS and isinstance(value.value, str):
            options[key] = read_path(section, key, problems) or value.value
        elif key != "name":
            options[key] = value.value
    return DatasetSettings(name=section.text("name", ""), options=options)


def _verifies(metrics: Section) -> bool:
    """``verification``: true, false, or a mapping with a file of pairs."""
    node = metrics.node(_VERIFICATION)
    if node is not None and isinstance(node.value, dict):
        return True
    return metrics.boolean(_VERIFICATION, False)


def _with_pairs(
    datasets: tuple[DatasetSettings, ...], metrics: Section, problems: Problems
) -> tuple[DatasetSettings, ...]:
    """The one data set of a study, with the file of pairs of its images if there is one."""
    node = metrics.node(_VERIFICATION)
    if node is None or not isinstance(node.value, dict):
        return datasets
    section = metrics.section(_VERIFICATION, ("pairs",))
    path = (*section.path, "pairs")
    if "pairs" not in section:
        problems.add(section.path, f"{label(path)} must be given; without a file it is true")
    pairs = read_path(section, "pairs", problems)
    if pairs is None:
        return datasets
    if has_scheme(pairs):
        problems.add(path, f"{label(path)} must be a file of this machine", got=pairs)
    if len(datasets) > 1:
        rule = f"{label(path)} names images of one data set, and the study has {len(datasets)}"
        problems.add(path, rule)
        return datasets
    (only,) = datasets
    return (replace(only, options={**only.options, VERIFICATION_PAIRS: pairs}),)


def _storage_location(
    section: Section, key: str, default: str, problems: Problems, *, holds: str = ""
) -> str:
    """A folder or a URI; a problem of a URI does not show it, since it may hold a password."""
    given = read_path(section, key, problems, holds=holds)
    if given is None:
        return default
    try:
        parse_place(given)
    except StoreError as error:
        problems.add((*section.path, key), f"{label((*section.path, key))}: {error}")
        return default
    return given


def _image_sizes(
    top: Section, datasets: Sequence[DatasetSettings], recipe: str
) -> tuple[int, ...]:
    """The given sizes; if none or empty, the recipe's size if there are image files, else none."""
    standard = default_image_size(recipe, datasets)
    default = () if standard is None else (standard,)
    node = top.node("image_sizes")
    if node is not None and node.value == []:
        return default
    return top.integers("image_sizes", default, low=1, high=MAX_IMAGE_SIZE)


def _search(
    section: Section,
    datasets: Sequence[DatasetSettings],
    problems: Problems,
    *,
    with_heads: bool,
) -> SearchSettings:
    base = SearchSettings()
    max_concurrent = None
    if not section.is_null("max_concurrent"):
        max_concurrent = section.integer("max_concurrent", 1, low=1, high=MAX_CONCURRENT)
    sampler = section.choice("sampler", base.sampler, SAMPLERS)
    trials = section.integer("trials", base.trials, low=1, high=_MAX_TRIALS)
    objectives = read_objectives(section, sampler, datasets)
    # Members have a part of the seconds of all, which says nothing of their own.
    by_default = "auto" if with_heads and SECONDS not in objectives else "off"
    return SearchSettings(
        sampler=sampler,
        objectives=objectives,
        trials=trials,
        space=section.text("space", base.space),
        tune=section.texts("tune", base.tune, may_be_empty=True),
        early_stopping=read_early_stopping(
            section, problems, default="none" if SECONDS in objectives else "asha"
        ),
        order=section.choice("order", base.order, _ORDERS),
        lag=section.integer("lag", base.lag, low=1, high=_MAX_TRIALS),
        repeats=section.integer("repeats", base.repeats, low=1, high=_MAX_REPEATS),
        shared_configs=section.boolean("shared_configs", base.shared_configs),
        splits=section.choice("splits", base.splits, get_args(Splits)),
        warm_start=_warm_start(section, problems),
        max_concurrent=max_concurrent,
        population=_population(section, by_default, sampler, trials),
    )


def _population(search: Section, default: str, sampler: SamplerName, trials: int) -> int:
    """``auto``, ``off``, which YAML takes for false, or a number.

    Automatic populations leave a sampler that learns some batches to learn from.
    """
    node = search.node("population")
    given = default if node is None else node.value
    if given is False or given == "off":
        return 1
    if given == "auto":
        return min(_MEMBERS, trials if sampler in DO_NOT_LEARN else max(1, trials // _BATCHES))
    return search.integer("population", 1, low=1, high=_MAX_MEMBERS)


def _warm_start(search: Section, problems: Problems) -> WarmStart | None:
    if search.is_null("warm_start"):
        return None
    section = search.section("warm_start", ("from", "top"))
    if "from" not in section and not problems.concern(section.path):
        problems.add(section.path, f"{label((*section.path, 'from'))} must be given")
    return WarmStart(
        folder=_storage_location(section, "from", "", problems),
        top=section.integer("top", WarmStart(folder="").top, low=1, high=_MAX_TRIALS),
    )


def _final(top: Section, split_seed: int, problems: Problems) -> FinalSettings:
    section = top.section("final", _names(FinalSettings))
    base = FinalSettings()
    train_on = section.texts("train_on", base.train_on, choices=get_args(TrainOn))
    return FinalSettings(
        seeds=section.integer("seeds", base.seeds, low=1, high=_MAX_REPEATS),
        protocol=read_final_protocol(section, problems, split_seed),
        train_on=tuple(choice for choice in get_args(TrainOn) if choice in train_on),
    )


def _keep(section: Section) -> KeepSettings:
    base = KeepSettings()
    return KeepSettings(
        models=section.boolean("models", base.models),
        embeddings=section.boolean("embeddings", base.embeddings),
    )


def _read_training(section: Section, datasets: Sequence[DatasetSettings]) -> StudyTraining:
    """Recipe and overrides, each of its type. Ranges are checked together with the recipe."""
    recipe = section.choice("recipe", default_recipe(datasets), sorted(RECIPES))
    overrides: dict[str, HyperparameterValue] = {}
    for name, kind in TRAINING_TYPES.items():
        if name not in section:
            continue
        if kind is bool:
            value: HyperparameterValue = section.boolean(name, False)
        elif kind is int:
            value = section.integer(name, 1, low=_LOWEST.get(name, 0), high=MAX_SEED)
        elif kind is float:
            value = section.number(name, 0.0)
        elif isinstance(legal := LEGAL_VALUES.get(name), OneOf):
            value = section.choice(name, legal.values[0], legal.values)
        else:
            value = section.text(name, "")
        if not section.is_wrong(name):
            overrides[name] = value
    return StudyTraining(recipe=recipe, overrides=overrides)

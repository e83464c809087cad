"""A study as the plain values of the snapshot in its results folder, and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestrator.results.records.expected_values import expected_of, expected_record
from orchestrator.results.records.tournament_rules import rules_of
from orchestrator.study.defaults import are_heads, has_image_files
from orchestrator.study.study import (
    BudgetSettings,
    EarlyStopping,
    FinalSettings,
    KeepSettings,
    ResourceSettings,
    ResourceShare,
    SearchSettings,
    Study,
    StudyLoss,
    StudyTraining,
    WarmStart,
)
from podium.errors import StudyError
from search_spaces.parameters import Choice, Int, Real, Space
from trainables.settings.training_settings import TRAINING_TYPES
from trainables.settings.trial_settings import BackboneSettings, DatasetSettings, ProtocolSettings

# In the order in which the snapshot has them.
_KEYS = (
    *("name", "datasets", "backbones", "embedding_dims", "losses", "protocols", "search", "final"),
    *("training", "resources", "budget", "image_sizes", "spaces", "values", "try_first"),
    *("warm_starts", "code", "declared_differences", "tournament", "expect", "keep"),
    *("quarantine", "ks", "verification", "seed", "storage"),
)
# Absent where they are false or empty.
_IF_GIVEN = ("code", "verification")

_MOST = 1_000_000  # trials, repeats or seeds

# Loss -> what the study file states for it.
_OF_LOSSES = ("spaces", "values", "try_first")

_KINDS: dict[str, type[Real | Int | Choice]] = {"real": Real, "int": Int, "choice": Choice}
_KIND_NAMES = {kind: name for name, kind in _KINDS.items()}


def resolved_dict(study: Study) -> dict[str, Any]:
    """Every value of the study, for YAML and JSON: no default is left out.

    What the study file states for single losses is there by key, and then by loss. Only ``code``
    is missing where nothing is named by import path, ``verification`` where it is not asked for,
    and ``population`` where there can be none.
    """
    values = asdict(study) | {
        "losses": study.loss_names,
        "spaces": {it.name: space_dict(it.space) for it in study.losses if it.space is not None},
        "values": {it.name: it.values for it in study.losses if it.values},
        "try_first": {it.name: it.try_first for it in study.losses if it.try_first},
        "training": {"recipe": study.training.recipe, **study.training.overrides},
        "expect": expected_record(study.expect) if study.expect else None,
    }
    keys = (key for key in _KEYS if key not in _IF_GIVEN or values[key])
    plain: dict[str, Any] = json.loads(json.dumps({key: values[key] for key in keys}))
    if study.search.population == 1 and not are_heads(study.training, study.backbones):
        del plain["search"]["population"]
    return plain


def space_dict(space: Space) -> dict[str, dict[str, Any]]:
    """Hyperparameter -> ``kind`` and fields of what is searched of it."""
    return {
        name: {"kind": _KIND_NAMES[type(tried)], **asdict(tried)}
        for name, tried in space.parameters.items()
    }


def study_from_resolved(values: Mapping[str, Any]) -> Study:
    """The inverse of `resolved_dict`. Only types and keys are checked again.

    Raises:
        StudyError: these are not the values of a study.
    """
    try:
        study = _study(values)
        _checks_types().validate_python(asdict(study))
        _check_bounds(study)
        for key, value in resolved_dict(study).items():
            if value != values.get(key):
                raise ValueError(f"{key} lacks a value or has one too many")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise _unreadable(f"{where}: {first['msg']}; got {first['input']!r:.60}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(repr(error)) from error
    return study


@cache
def _checks_types() -> TypeAdapter[Study]:
    return TypeAdapter(Study)


def _check_bounds(study: Study) -> None:
    """Refuse what no command could count: nothing to compare, or more than there can be."""
    for name in ("datasets", "backbones", "embedding_dims", "losses", "protocols", "ks"):
        if not getattr(study, name):
            raise ValueError(f"{name} is empty")
    if not study.image_sizes and any(map(has_image_files, study.datasets)):
        raise ValueError("image_sizes is empty")
    search, final = study.search, study.final
    for name, number in (
        ("search.trials", search.trials),
        ("search.repeats", search.repeats),
        ("final.seeds", final.seeds),
    ):
        if type(number) is not int or not 0 <= number <= _MOST:
            raise ValueError(f"{name} is out of bounds: {number!r:.40}")


def _unreadable(problem: str) -> StudyError:
    return StudyError([f"the stored study is not one that this podium reads: {problem}"])


def _study(values: Mapping[str, Any]) -> Study:
    if unknown := sorted(values.keys() - set(_KEYS)):
        raise KeyError(unknown[0])
    search, final = values["search"], values["final"]
    warm_start = search["warm_start"]
    protocol = final["protocol"]
    lists = {key: tuple(values[key]) for key in ("embedding_dims", "image_sizes", "ks")}
    spaces = {loss: _space(space) for loss, space in values["spaces"].items()}
    stopping = EarlyStopping(**search["early_stopping"])
    others = {key: value for key, value in values.items() if key not in _OF_LOSSES}
    return Study(
        **{
            **others,
            **lists,
            "losses": tuple(
                StudyLoss(
                    name,
                    space=spaces.get(name),
                    values=values["values"].get(name, {}),
                    try_first=tuple(values["try_first"].get(name, ())),
                )
                for name in values["losses"]
            ),
            "datasets": tuple(DatasetSettings(**item) for item in values["datasets"]),
            "backbones": tuple(BackboneSettings(**item) for item in values["backbones"]),
            "protocols": tuple(map(ProtocolSettings.from_dict, values["protocols"])),
            "search": SearchSettings(
                **{
                    **search,
                    "objectives": tuple(search["objectives"]),
                    "tune": tuple(search["tune"]),
                    "early_stopping": stopping,
                    "warm_start": WarmStart(**warm_start) if warm_start else None,
                }
            ),
            "final": FinalSettings(
                **{
                    **final,
                    "train_on": tuple(final["train_on"]),
                    "protocol": ProtocolSettings.from_dict(protocol) if protocol else None,
                }
            ),
            "training": _training(values["training"]),
            "warm_starts": {key: tuple(given) for key, given in values["warm_starts"].items()},
            "code": dict(values.get("code", {})),
            "keep": KeepSettings(**values["keep"]),
            "tournament": rules_of(values),
            "expect": expected_of(values),
            "budget": BudgetSettings(**values["budget"]),
            "resources": _resources(values["resources"]),
        }
    )


def _resources(values: Mapping[str, Any]) -> ResourceSettings:
    backbones = {name: ResourceShare(**it) for name, it in values["backbones"].items()}
    return ResourceSettings(**{**values, "backbones": backbones})


def _training(values: Mapping[str, Any]) -> StudyTraining:
    overrides = {name: value for name, value in values.items() if name != "recipe"}
    if unknown := sorted(overrides.keys() - TRAINING_TYPES.keys()):
        raise KeyError(f"training.{unknown[0]}")
    return StudyTraining(recipe=values["recipe"], overrides=overrides)


def _space(parameters: Mapping[str, Mapping[str, Any]]) -> Space:
    return Space({name: _tried(dict(tried)) for name, tried in parameters.items()})


def _tried(values: dict[str, Any]) -> Real | Int | Choice:
    kind = _KINDS[values.pop("kind")]
    if kind is Choice:
        values["values"] = tuple(values["values"])
    tried: Real | Int | Choice = kind(**values)
    return tried

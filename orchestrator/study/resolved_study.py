"""A study as the plain values of the snapshot in its results folder, and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from podium.errors import StudyError
from podium.orchestrator.results.records.json_records import first_problem
from podium.orchestrator.results.records.study_keys import KEYS
from podium.orchestrator.study.defaults import are_heads, has_image_files
from podium.orchestrator.study.study import Study
from podium.search_spaces.parameters import Choice, Int, Real, Space
from podium.trainables.settings.training_settings import TRAINING_TYPES

# Loss -> what the study file states for it; in the snapshot these follow the image sizes.
_OF_LOSSES = ("spaces", "values", "labels")
_KEYS = tuple(
    key
    for field in fields(Study)
    for key in (field.name, *(_OF_LOSSES if field.name == "image_sizes" else ()))
)

_IF_ANY = ("code", "labels", "log")

_KIND_NAMES = {Real: "real", Int: "int", Choice: "choice"}

_UNREADABLE = "the stored study is not one that this podium reads"


def resolved_dict(study: Study) -> dict[str, Any]:
    """Every value of the study, for YAML and JSON: no default is left out.

    What the study file states for single losses is there by key, and then by loss. Only ``code``,
    ``labels`` and ``log`` are missing where there are none, and ``population`` where there can be
    none.
    """
    values = asdict(study) | {
        "losses": study.loss_names,
        "spaces": {it.name: space_dict(it.space) for it in study.losses if it.space is not None},
        "values": {it.name: it.values for it in study.losses if it.values},
        "labels": {it.name: it.label for it in study.losses if it.label},
        "training": {"recipe": study.training.recipe, **study.training.overrides},
    }
    keys = (key for key in _KEYS if key not in _IF_ANY or values[key])
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
    """The inverse of `resolved_dict`. Only types, ranges and keys are checked again.

    Raises:
        StudyError: these are not the values of a study.
    """
    try:
        (study,) = _adapter().validate_python([_fields(values)], by_alias=False, by_name=True)
        if not study.image_sizes and any(map(has_image_files, study.datasets)):
            raise ValueError("image_sizes is empty")
        for key, value in resolved_dict(study).items():
            if value != values.get(key):
                raise ValueError(f"{key} lacks a value or has one too many")
    except ValidationError as error:
        raise StudyError([f"{_UNREADABLE}: {first_problem(error).removeprefix('0.')}"]) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StudyError([f"{_UNREADABLE}: {error!r}"]) from error
    return study


@cache
def _adapter() -> TypeAdapter[list[Study]]:
    return TypeAdapter(list[Study], config=KEYS)


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a study, as plain values: what is said of single losses is at these."""
    overrides = dict(values["training"])
    recipe = overrides.pop("recipe")
    if unknown := sorted(overrides.keys() - TRAINING_TYPES.keys()):
        raise ValueError(f"training.{unknown[0]} is unknown")
    spaces, stated = values["spaces"], values["values"]
    return {
        **{key: value for key, value in values.items() if key not in _OF_LOSSES},
        "losses": [
            {
                "name": name,
                "space": Space({key: _tried(dict(it)) for key, it in spaces[name].items()})
                if name in spaces
                else None,
                "values": stated.get(name, {}),
                "label": values.get("labels", {}).get(name, ""),
            }
            for name in values["losses"]
        ],
        "training": {"recipe": recipe, "overrides": overrides},
    }


def _tried(values: dict[str, Any]) -> Real | Int | Choice:
    kind = values.pop("kind")
    if kind == "choice":
        return Choice(**{**values, "values": tuple(values["values"])})
    return Real(**values) if kind == "real" else Int(**values)

"""The backbones of a study file: names, or mappings of a name and the weights to start from."""

import os
import pathlib
from dataclasses import dataclass

from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.defaults import default_weights
from podium.orchestrator.study_parser.file_paths import read_path
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import MAX_CROSSED, read_items, read_keys
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.trainables.errors import TrialInputError
from podium.trainables.network.initial_weights import weights_problem
from podium.trainables.settings.trial_settings import BackboneSettings

_DEFAULT = (BackboneSettings(name="conv_small"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    name: Text = ""
    weights: Text | None = None


def read_backbones(values: object, problems: Problems) -> tuple[BackboneSettings, ...]:
    """All backbones of the study, no two of one name; weights in a file by its absolute path."""
    found: dict[str, BackboneSettings] = {}
    for path, item in read_items(values, ("backbones",), problems, most=MAX_CROSSED):
        backbone = _backbone(item, path, problems)
        if backbone is None:
            continue
        if backbone.name in found:
            rule = (
                f"{label(path)} is in the list already: results distinguish backbones by name, so "
                "different weights need a different study"
            )
            problems.add(path, rule, got=backbone.name)
        found.setdefault(backbone.name, backbone)
    return tuple(found.values()) or _DEFAULT


def is_missing(backbone: BackboneSettings) -> bool:
    """Whether the weights are a file that is not on this machine: another one may train."""
    file = pathlib.Path(backbone.weights)
    return file.is_absolute() and not file.exists()


def _backbone(item: object, path: Path, problems: Problems) -> BackboneSettings | None:
    """None if the item is wrong; that is noted."""
    if not isinstance(item, str) and not (isinstance(item, dict) and "name" in item):
        rule = f"{label(path)} must be a name, or a mapping with a name and weights"
        problems.add(path, rule, got=item)
        return None
    keys = _Keys(name=item) if isinstance(item, str) else read_keys(_Keys, item, path, problems)
    weights, weights_path = keys.weights, (*path, "weights")
    if weights and (os.sep in weights or weights.startswith("~") or pathlib.Path(weights).suffix):
        weights = read_path(weights, weights_path, problems)
    if problems.concern(path):
        return None
    try:
        backbone = BackboneSettings(name=keys.name, weights=weights or default_weights(keys.name))
        problem = None if is_missing(backbone) else weights_problem(backbone)
    except TrialInputError as error:
        problems.add(path, str(error))
        return None
    if problem is not None:
        problems.add(weights_path if weights else path, problem)
        return None
    return backbone

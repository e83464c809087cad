"""The backbones of a study file: names, or mappings of a name and the weights to start from."""

import os
import pathlib

from orchestrator.study.defaults import default_weights
from orchestrator.study_parser.file_paths import read_path
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.yaml_section import MAX_CROSSED, Section, label
from orchestrator.study_parser.yaml_tree import Node
from trainables.errors import TrialInputError
from trainables.network.initial_weights import weights_problem
from trainables.settings.trial_settings import RANDOM_WEIGHTS, BackboneSettings

_DEFAULT = (BackboneSettings(name="conv_small"),)
_KEYS = ("name", "weights")


def read_backbones(top: Section, problems: Problems) -> tuple[BackboneSettings, ...]:
    """All backbones of the study, no two of one name; weights in a file by its absolute path."""
    if "backbones" not in top:
        return _DEFAULT
    found: dict[str, BackboneSettings] = {}
    for path, item in top.items("backbones", most=MAX_CROSSED):
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


def _backbone(node: Node, path: Path, problems: Problems) -> BackboneSettings | None:
    """None if the item is wrong; that is noted."""
    if isinstance(node.value, str):
        name, weights, weights_path = node.value, None, path
    elif isinstance(node.value, dict) and "name" in node.value:
        section = Section(node, path, problems, _KEYS)
        name, weights_path = section.text("name", ""), (*path, "weights")
        weights = _given_weights(section, problems)
    else:
        rule = f"{label(path)} must be a name, or a mapping with a name and weights"
        problems.add(path, rule, got=node.plain())
        return None
    if problems.concern(path):
        return None
    try:
        backbone = BackboneSettings(name=name, weights=weights or default_weights(name))
        problem = None if is_missing(backbone) else weights_problem(backbone)
    except TrialInputError as error:
        problems.add(path, str(error))
        return None
    if problem is not None:
        problems.add(weights_path if weights is not None else path, problem)
        return None
    return backbone


def _given_weights(section: Section, problems: Problems) -> str | None:
    """The name of the weights, or the absolute path of their file; None if they are not given."""
    if "weights" not in section:
        return None
    given = section.text("weights", RANDOM_WEIGHTS)
    is_file = os.sep in given or given.startswith("~") or pathlib.Path(given).suffix
    return read_path(section, "weights", problems) if is_file else given

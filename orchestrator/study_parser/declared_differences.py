"""Reads ``declared_differences`` of a study file, and checks that all are declared."""

from dataclasses import asdict, make_dataclass

from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.fairness import DECLARABLE, disparities, representatives, undeclared
from podium.orchestrator.study.fairness_of_losses import TRY_FIRST, WARM_START
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import read_keys
from podium.orchestrator.study_parser.yaml_tree import Path

DECLARED = "declared_differences"

# Sections that differences follow from; while any is wrong they are not known.
_DEPENDS_ON = ("datasets", "backbones", "losses", "search", "training", "protocol", "image_sizes")


_Keys = make_dataclass("_Keys", [(name, Text, "") for name in DECLARABLE])


def read_declared(values: object, problems: Problems) -> dict[str, str]:
    """Name of what differs -> reason."""
    given = asdict(read_keys(_Keys, values, (DECLARED,), problems))
    return {name: reason for name, reason in given.items() if reason}


def check_fairness(study: Study, problems: Problems) -> None:
    """Note differences without a declared reason, and reasons without a difference.

    Configs of earlier results are not known before the study starts: a reason is accepted then.
    """
    if problems.concern(*_DEPENDS_ON):
        return
    found = disparities(study, representatives(blocks(study)))
    for name, rule in undeclared(found).items():
        problems.add(_cause(study, name), rule)
    differing = {item.name for item in found}
    if study.search.warm_start is not None:
        differing.add(WARM_START)
    for name in study.declared_differences.keys() - differing:
        path: Path = (DECLARED, name)
        rule = f"{label(path)} gives a reason, but no losses of a block differ in {name}"
        problems.add(path, f"{rule}: leave it out")


def _cause(study: Study, name: str) -> Path:
    """Path to the first value in the file that causes a difference; else to ``losses``."""
    for index, loss in enumerate(study.losses):
        if name == TRY_FIRST and loss.try_first:
            return "losses", index, TRY_FIRST
        if name in loss.values:
            return "losses", index, "values", name
        if name in loss.own_parameters:
            return "losses", index, "space", name
    return ("losses",)

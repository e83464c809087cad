"""What a study file says of differences between its losses, and whether it says all it has to."""

from orchestrator.study.blocks import blocks
from orchestrator.study.fairness import DECLARABLE, disparities, representatives, undeclared
from orchestrator.study.fairness_of_losses import TRY_FIRST, WARM_START
from orchestrator.study.study import Study
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.yaml_section import Section, label

__all__ = ["DECLARED", "check_fairness", "read_declared"]

DECLARED = "declared_differences"

# What the differences follow from; while any of it is wrong they are not known.
_JUDGED_BY = ("datasets", "backbones", "losses", "search", "training", "protocol", "image_sizes")


def read_declared(top: Section) -> dict[str, str]:
    """Name of what differs -> why, as far as both can be read."""
    section = top.section(DECLARED, DECLARABLE)
    given = {name: section.text(name, "") for name in DECLARABLE if name in section}
    return {name: reason for name, reason in given.items() if not section.is_wrong(name)}


def check_fairness(study: Study, problems: Problems) -> None:
    """Note differences that the study file makes without a reason, and reasons for none.

    What earlier results give to which loss is not known before the study starts.
    """
    if problems.concern(*((name,) for name in _JUDGED_BY)):
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
    """The first place in the file that gives one loss something of its own."""
    for index, loss in enumerate(study.losses):
        if name == TRY_FIRST and loss in study.try_first:
            return "losses", index, TRY_FIRST
        if name in study.values.get(loss, {}):
            return "losses", index, "values", name
        space = study.spaces.get(loss)
        if space is not None and name in space.parameters:
            return "losses", index, "space", name
    return ("losses",)

"""Small studies of two losses or more, and what differs between these."""

from podium.orchestrator.study.fairness import fairness
from tests.orchestrator.study_files import load

# Two losses that differ in nothing but their formulas: pairs, one hyperparameter each, no proxies.
ALIKE = ("contrastive", "lifted_structure")
HEAD = "study: x\ndatasets: [glyphs]\nlosses: "


def study_of_losses(folder, first, second="lifted_structure", more=""):
    """A study of two entries of ``losses``, with ``more`` lines."""
    return load(folder, f"{HEAD}[{first}, {second}]\n{more}")


def differences(study):
    """Name -> disparity, of all that differs between the losses."""
    return {item.name: item for item in fairness(study).disparities}


def sides(item):
    """Value -> losses that have it."""
    return {side.value: side.competitors for side in item.sides}

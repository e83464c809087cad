"""What the searches of a study try, as plain values for its results folder.

Reports read it to know a hyperparameter's scale and bounds: the spaces of a later podium may be
others, and rates are tried around what a recipe gives, so they differ between blocks.
"""

from dataclasses import asdict
from typing import Any

from orchestrator.study.blocks import blocks
from orchestrator.study.configs import space_of, unsearched_values
from orchestrator.study.study import Study
from search_spaces.parameters import Choice, Int, Real, Space

__all__ = ["space_record"]

_KINDS: dict[type[Real | Int | Choice], str] = {Real: "real", Int: "int", Choice: "choice"}


def space_record(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Loss -> its spaces, each with the ``blocks`` it is searched in and its ``parameters``.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    return {loss: _spaces(study, loss) for loss in study.losses}


def _spaces(study: Study, loss: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for block in blocks(study):
        parameters = _parameters(space_of(study, loss, unsearched_values(study, block, loss)))
        alike = next((item for item in found if item["parameters"] == parameters), None)
        if alike is None:
            found.append({"blocks": [block.label], "parameters": parameters})
        else:
            alike["blocks"].append(block.label)
    return found


def _parameters(space: Space) -> dict[str, dict[str, Any]]:
    return {
        name: {"kind": _KINDS[type(tried)], **asdict(tried)}
        for name, tried in space.parameters.items()
    }

"""The losses of a study file: names, or mappings of a name and a space of its own."""

from collections.abc import Mapping, Sequence

from orchestrator._problems import Path, Problems
from orchestrator._study_section import Section, label
from orchestrator._study_spaces import read_space
from orchestrator._yaml_tree import Node
from search_spaces.catalogue import joined_space, legal_parameters, loss_names
from search_spaces.params import Choice, Int, Real, Space
from search_spaces.training import TRAINING_SPACES

__all__ = ["read_losses"]


def read_losses(
    top: Section, tune: Sequence[str], problems: Problems
) -> tuple[tuple[str, ...], dict[str, Space]]:
    """The names of all losses, and the spaces of those that bring one along.

    A space that is brought along stands in for the named one; the training parameters in ``tune``
    join it like any other.
    """
    spaces: dict[str, Space] = {}
    losses: list[str] = []
    for path, item in top.items("losses"):
        loss, space = _read_loss(item, path, problems)
        if loss in losses:
            problems.add(path, f"{label(path)} is in the list already", got=loss)
        if loss is not None:
            losses.append(loss)
        if loss is not None and space is not None:
            spaces[loss] = Space({**_tuned(loss, tune), **space.parameters})
    return tuple(losses), spaces


def _read_loss(node: Node, path: Path, problems: Problems) -> tuple[str | None, Space | None]:
    """Name and space, as far as they are known."""
    if isinstance(node.value, dict) and "loss" in node.value:
        section = Section(node, path, problems, ("loss", "space"))
        loss, place, space = section.text("loss", ""), (*path, "loss"), section.node("space")
    elif isinstance(node.value, str):
        loss, place, space = node.value, path, None
    else:
        rule = f"{label(path)} must be a name, or a mapping with a loss and a space"
        problems.add(path, rule, got=node.plain())
        return None, None
    if loss not in loss_names():
        if not problems.concern(place):
            problems.add(place, "unknown loss", got=loss, choices=loss_names())
        return None, None
    if space is None:
        return loss, None
    return loss, read_space(space, (*path, "space"), legal_parameters(loss), problems)


def _tuned(loss: str, tune: Sequence[str]) -> Mapping[str, Real | Int | Choice]:
    """What ``tune`` adds to the space of ``loss``."""
    known = [name for name in tune if name in TRAINING_SPACES]
    parameters = joined_space(loss, "joint", known).parameters
    return {name: parameters[name] for name in known if name in parameters}

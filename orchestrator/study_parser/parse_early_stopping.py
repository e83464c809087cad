"""Reads ``search.early_stopping`` of a study file: a kind, or a mapping of kind and numbers."""

from collections.abc import Mapping
from typing import get_args

from orchestrator.study.study import EarlyStopping, Stopping
from orchestrator.study_parser.problems import Problems
from orchestrator.study_parser.yaml_section import Section, label

__all__ = ["read_early_stopping"]

# The numbers that each kind goes by; all others would say nothing.
_NUMBERS: Mapping[Stopping, tuple[str, ...]] = {
    "asha": ("grace_epochs", "reduction_factor"),
    "hyperband": ("grace_epochs", "reduction_factor"),
    "median": ("grace_epochs", "min_trials"),
    "folds": ("reduction_factor",),
    "none": (),
}
_LOWEST = {"grace_epochs": 1, "reduction_factor": 2, "min_trials": 1}


def read_early_stopping(
    search: Section, problems: Problems, *, default: Stopping
) -> EarlyStopping:
    """The rules in the section ``search``; a number that its kind does not go by is a problem."""
    base = EarlyStopping(kind=default)
    node = search.node("early_stopping")
    if node is not None and isinstance(node.value, str):
        return EarlyStopping(kind=search.choice("early_stopping", base.kind, get_args(Stopping)))
    section = search.section("early_stopping", ["kind", *_LOWEST])
    kind: Stopping = section.choice("kind", base.kind, get_args(Stopping))
    for name in _LOWEST:
        if name in section and name not in _NUMBERS[kind] and not section.is_wrong("kind"):
            path, takes = (*section.path, name), " and ".join(_NUMBERS[kind]) or "no number"
            problems.add(path, f"{label(path)} does not go with kind {kind}, which takes {takes}")
    return EarlyStopping(
        kind=kind,
        **{
            name: section.whole(name, getattr(base, name), low=low)
            for name, low in _LOWEST.items()
        },
    )

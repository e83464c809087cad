"""Reads how a study parts its training classes: of ``protocol`` and of ``final.protocol``."""

from collections import Counter
from pathlib import Path
from typing import get_args

from orchestrator._problems import Problems
from orchestrator._study_section import Section, label
from orchestrator.defaults import absolute
from trainables.settings import ProtocolKind, ProtocolSettings

__all__ = ["PROTOCOL_KEYS", "read_protocol"]

PROTOCOL_KEYS = ("kind", "val_fraction", "folds", "repeats", "classes_file", "split_seed")

_FRACTION, _SEED = "val_fraction", "split_seed"
_TAKES: dict[ProtocolKind, tuple[str, ...]] = {
    "fixed": (_FRACTION, _SEED),
    "kfold": ("folds", _SEED),
    "random_splits": (_FRACTION, _SEED),
    "repeated_kfold": ("folds", "repeats", _SEED),
    "published": ("classes_file",),
}


def read_protocol(section: Section, problems: Problems, split_seed: int = 0) -> ProtocolSettings:
    """The protocol as far as it can be read.

    Args:
        section: of the study file; its keys are `PROTOCOL_KEYS`.
        problems: notes what is wrong, keys that do not go with the kind among them.
        split_seed: where the section gives none.
    """
    kind = section.choice("kind", "fixed", get_args(ProtocolKind))
    if section.is_wrong("kind"):
        return ProtocolSettings()
    takes = _TAKES[kind]
    for key in PROTOCOL_KEYS:
        if key not in ("kind", *takes) and not section.is_null(key):
            shown = " and ".join(name for name in takes if name != _SEED)
            path = (*section.path, key)
            problems.add(path, f"{label(path)} does not go with kind {kind}, which takes {shown}")
    if kind == "published":
        return _published(section, problems)
    return ProtocolSettings(
        kind=kind,
        val_fraction=(
            section.real(_FRACTION, 0.1, above=0.0, below=1.0) if _FRACTION in takes else None
        ),
        folds=section.whole("folds", 10, low=2) if "folds" in takes else None,
        repeats=section.whole("repeats", 2, low=2) if "repeats" in takes else None,
        split_seed=section.whole(_SEED, split_seed, low=0),
    )


def _published(section: Section, problems: Problems) -> ProtocolSettings:
    """The names themselves go on: trials need the file no more, and it may be moved."""
    key = (*section.path, "classes_file")
    if section.is_null("classes_file"):
        problems.add(
            section.path, f"{label(key)} must be given: kind published validates its classes"
        )
        return ProtocolSettings()
    given = section.text("classes_file", "")
    if section.is_wrong("classes_file"):
        return ProtocolSettings()
    path = absolute(given)
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problems.add(key, f"{label(key)} cannot be read: {reason}", got=path)
        return ProtocolSettings()
    names = [line.strip() for line in lines if line.strip()]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        problems.add(key, f"{label(key)} names a class more than once", got=twice[0])
        return ProtocolSettings()
    return ProtocolSettings(
        kind="published",
        val_fraction=None,
        classes_file=path,
        val_classes=tuple(sorted(names)),
    )

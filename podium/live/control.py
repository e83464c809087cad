"""What the page may change of a study: what ``podium control`` writes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.study_control import (
    control_text,
    read_control,
    searches_named,
    write_control,
)
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study import Control, Study
from podium.errors import PodiumError

_KNOWN = ("pause", "max_concurrent", "cancel", "undo_cancel")


def change_control(paths: StudyPaths, wanted: Mapping[str, Any]) -> str:
    """Write one change into ``control.yaml``; return all that is changed now, in words.

    Args:
        paths: results folder of the study.
        wanted: one of ``pause`` (true or false), ``max_concurrent`` (number, or null for that of
            the study), ``cancel`` and ``undo_cancel`` (id of a search), with its value.

    Raises:
        PodiumError: the change is unknown, or its value is wrong; nothing is written.
        StoreError: it cannot be written.
    """
    if len(wanted) != 1 or next(iter(wanted)) not in _KNOWN:
        raise PodiumError(f"a change must be one of {', '.join(_KNOWN)}")
    ((name, value),) = wanted.items()
    study = study_from_resolved(Reader(paths.folder).study())
    control = _changed(study, read_control(study, paths), name, value)
    write_control(study, paths, control)
    return control_text(study, control)


def _changed(study: Study, control: Control, name: str, value: Any) -> Control:
    if name == "pause":
        if not isinstance(value, bool):
            raise PodiumError(f"pause must be true or false; got {value!r}")
        return replace(control, is_paused=value)
    if name == "max_concurrent":
        return replace(control, max_concurrent=value)  # the writer checks it
    if not isinstance(value, str):
        raise PodiumError(f"{name} must name a search; got {value!r}")
    named = searches_named(study, [value])
    cancelled = control.cancelled | named if name == "cancel" else control.cancelled - named
    return replace(control, cancelled=cancelled)

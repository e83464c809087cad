"""What a study names by import path, and how its code differs from what was recorded.

A study records the fingerprint of each such loss and backbone when it first uses it, and keeps a
copy in its results folder (`orchestrator.results.records.code_copies`). Studies of versions that
recorded nothing, and what they named then, stay without: what their trials were trained with is
not known.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from orchestrator.results.records.code_copies import (
    CodeRecord,
    read_code_file,
    read_code_record,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.printable_text import visible
from trainables.errors import TrialInputError
from trainables.foreign_code import ForeignCode, foreign_code
from trainables.network.backbone_facts import is_external
from trainables.settings.loss_expression import parse_loss

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_DIFF_LINES = 60
_DIFF_WIDTH = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeChange:
    """How the code of an import path differs from what was recorded.

    Attributes:
        import_path: as the study names it.
        fingerprint: of the recorded code.
        differences: one sentence part for each file or package that differs.
        diff: unified diff of files of one's own, from the copy to what is there now; cut if long.
    """

    import_path: str
    fingerprint: str
    differences: tuple[str, ...]
    diff: str

    def __str__(self) -> str:
        return f"{self.import_path}: {', '.join(self.differences)}"


def import_paths(losses: Iterable[str], backbones: Iterable[str]) -> tuple[str, ...]:
    """Everything that these losses and backbones name by import path, each once, sorted.

    Args:
        losses: expressions as in study files.
        backbones: names of networks.
    """
    terms = [term for loss in losses for term in parse_loss(loss).all_terms]
    named = {term.name for term in terms if term.is_external}
    return tuple(sorted(named | {name for name in backbones if is_external(name)}))


def import_paths_of(study: Mapping[str, Any]) -> tuple[str, ...]:
    """The import paths of a resolved study; a foreign one may hold losses that name nothing."""
    losses = filter(_is_loss, study["losses"])
    return import_paths(losses, [item["name"] for item in study["backbones"]])


def _is_loss(expression: str) -> bool:
    try:
        parse_loss(expression)
    except TrialInputError:
        return False
    return True


def recorded_code(study: Mapping[str, Any]) -> dict[str, str]:
    """Import path -> recorded fingerprint of a resolved study.

    Raises:
        ValueError: these are no fingerprints.
    """
    code = study.get("code", {})
    for import_path, fingerprint in code.items():
        if not _FINGERPRINT.fullmatch(fingerprint):
            raise ValueError(f"code.{import_path} must be a SHA-256, got {fingerprint!r}")
    return dict(code)


def code_of_trial(code: Mapping[str, str], loss: str, backbone: str) -> dict[str, str]:
    """The part of a study's code that a trial of this loss and backbone runs."""
    if not code:
        return {}
    return {path: code[path] for path in import_paths((loss,), (backbone,)) if path in code}


def code_now(import_paths: Iterable[str]) -> dict[str, ForeignCode]:
    """Import path -> its code on this machine; what is podium's own is left out.

    Raises:
        TrialInputError: there is no such module, or its files cannot be kept.
    """
    found = {path: foreign_code(path) for path in import_paths}
    return {path: code for path, code in found.items() if code is not None}


def changed_code(code: Mapping[str, str], paths: StudyPaths) -> list[CodeChange]:
    """What differs on this machine from the code that was recorded.

    Args:
        code: import path -> recorded fingerprint.
        paths: the results folder, with the copies.

    Raises:
        TrialInputError: a module is not here, or its files cannot be read.
        CorruptFileError: a record is damaged.
    """
    now = code_now(code)
    return [
        _change(paths, path, fingerprint, now.get(path, ForeignCode()))
        for path, fingerprint in code.items()
        if path not in now or now[path].fingerprint != fingerprint
    ]


def _change(paths: StudyPaths, import_path: str, fingerprint: str, now: ForeignCode) -> CodeChange:
    record = read_code_record(paths, fingerprint) or CodeRecord(files={}, packages={})
    old, new = {**record.files, **record.packages}, {**now.files, **now.packages}
    differences = [
        *(f"{name} was changed" for name in old if name in new and old[name] != new[name]),
        *(f"{name} was added" for name in new if name not in old),
        *(f"{name} is gone" for name in old if name not in new),
    ]
    lines = islice(_diff(paths, fingerprint, record, now), _DIFF_LINES + 1)
    shown = [visible(line)[:_DIFF_WIDTH] for line in lines]
    if len(shown) > _DIFF_LINES:
        shown[_DIFF_LINES] = "... (more lines differ)"
    return CodeChange(
        import_path=import_path,
        fingerprint=fingerprint,
        differences=tuple(differences) or ("its record is missing",),
        diff="\n".join(shown),
    )


def _diff(
    paths: StudyPaths, fingerprint: str, record: CodeRecord, now: ForeignCode
) -> Iterator[str]:
    for name, data in now.sources.items():
        if name in record.files and record.files[name] != now.files[name]:
            before = read_code_file(paths, fingerprint, name)
            if before is not None:
                yield from difflib.unified_diff(
                    _lines(before), _lines(data), f"recorded {name}", f"now {name}", lineterm=""
                )


def _lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").splitlines()

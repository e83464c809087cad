"""Checks a results folder by names and kinds alone: links, pipes, and files not of podium."""

import re
from collections.abc import Sequence

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import contents
from orchestrator.results.storage.locations import TEMPORARY_SUFFIX
from orchestrator.results.storage.printable_text import has_control_characters
from orchestrator.verify.findings import Findings, some_of

_FOLDERS = {
    *("asks", "attempts", "checkpoints", "code", "compacted", "embeddings", "lock", "logs"),
    *("models", "retried", "runs", "trials", "trials_segments"),
}
# What podium reads or writes. Whether a file fits its name is for its reader to say.
_FILES = re.compile(
    r"(store|provenance|lock|runs)\.json|(study|control)\.yaml|report\.html|\.lock-guard"
    r"|trials/[^/]+/[^/]+\.parquet"
    r"|(asks|attempts|retried)/[^/]+/[^/]+\.json"
    r"|(asks|attempts|runs|lock)/[^/]+\.json"
    r"|checkpoints/[^/]+/(state|unusable)\.pt"
    r"|(models|embeddings)/[^/]+\.safetensors"
    r"|(compacted|trials_segments)/[^/]+\.(parquet|(trials|counts)\.json)|compacted/manifest\.json"
    r"|code/[^/]+/.+"
    r"|logs/([^/]+/)?[^/]+\.log"
)
_SHOWN = 20


def check_contents(paths: StudyPaths, findings: Findings) -> bool:
    """Check everything in the folder by its name and kind, before anything is read.

    Returns:
        Whether the rest can be checked: every command refuses a folder that leads elsewhere.
    """
    findings.tell("listing the folder")
    found = contents(paths.folder)
    is_safe = True
    for name, kind in found:
        if problem := _problem(name, kind):
            findings.problem(paths.folder / name, *problem)
            is_safe = False
    files = [name for name, kind in found if kind == "file"]
    folders = [name for name, kind in found if kind == "folder" and "/" not in name]
    _note_unknown(paths, files, folders, findings)
    _note_hidden(paths, files, findings)
    return is_safe


def _problem(name: str, kind: str) -> tuple[str, str, str] | None:
    """The rule that a name or kind breaks, what it is, and what to do."""
    if kind not in ("file", "folder"):
        rule = "must be a file or a folder: podium follows no link, and reads no pipe or device"
        return rule, kind, "Replace it by what belongs there"
    if has_control_characters(name):
        rule = "names must hold no control characters: they would forge what podium prints"
        return rule, "a name that podium never writes", "Delete or rename it"
    if kind == "file" and name in _FOLDERS:
        return "must be a folder", "a file", "Restore the folder from a copy"
    if kind == "folder" and _FILES.fullmatch(name) and not name.startswith("code/"):
        return "must be a file", "a folder", "Restore the file from a copy"
    return None


def _note_unknown(
    paths: StudyPaths, files: Sequence[str], folders: Sequence[str], findings: Findings
) -> None:
    """Files that podium does not read are a user's own, but Parquet files count elsewhere."""
    foreign = [name for name in folders if name not in _FOLDERS and not name.startswith(".")]
    unknown = [name for name in files if not _FILES.fullmatch(name)]
    stray = [name for name in unknown if name.endswith(".parquet")]
    single = [
        name
        for name in unknown
        if name not in stray and not _is_hidden(name) and name.partition("/")[0] not in foreign
    ]
    for name in stray:
        findings.problem(
            paths.folder / name,
            "no Parquet file but those of trials may lie in the folder: podium does not read it,"
            " and whoever reads **/*.parquet counts its rows",
            advice="Move it elsewhere",
        )
    for name in (noted := sorted(foreign + single))[:_SHOWN]:
        findings.note(paths.folder / name, "is not podium's, and is not read")
    if len(noted) > _SHOWN:
        rest = len(noted) - _SHOWN
        findings.note(paths.folder, f"{rest} more files are not podium's, and are not read")


def _note_hidden(paths: StudyPaths, files: Sequence[str], findings: Findings) -> None:
    hidden = [name for name in files if _is_hidden(name) and not _FILES.fullmatch(name)]
    temporaries = [name for name in hidden if name.endswith(TEMPORARY_SUFFIX)]
    others = [name for name in hidden if not name.endswith((TEMPORARY_SUFFIX, ".parquet"))]
    if temporaries:
        findings.note(
            paths.folder,
            f"{len(temporaries)} half-written files (.*.tmp), in progress, or left by a killed"
            " process",
            "podium run deletes what was left when it ends the study",
        )
    if others:
        findings.note(
            paths.folder,
            f"{len(others)} hidden files are not podium's, and are not read: {some_of(others)}",
        )


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))

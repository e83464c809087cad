"""The code that a study names by import path: recorded when it is first used, the same ever after.

Trials that were trained by other code are not comparable, so a run with other code is refused.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from orchestrator.results.records.asks import read_asks, remove_asks
from orchestrator.results.records.code_copies import (
    CodeRecord,
    read_code_file,
    read_code_record,
    write_code,
)
from orchestrator.results.records.fairness_record import join_names
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_study
from orchestrator.results.storage.files import remove_folder
from orchestrator.study.blocks import searches
from orchestrator.study.foreign_code import (
    CodeChange,
    changed_code,
    code_now,
    import_paths,
    import_paths_of,
    recorded_code,
)
from orchestrator.study.study import Study
from podium.errors import CorruptFileError, PodiumError
from trainables.foreign_code import fingerprint_of
from trainables.loss_files import file_of, keep_files


def with_recorded_code(study: Study, paths: StudyPaths) -> Study:
    """The study with the fingerprints of its snapshot, and of what it newly names as it is now.

    What the snapshot names without a fingerprint was trained by a version that recorded none. It
    stays without, so that ids stay as they are.

    Raises:
        TrialInputError: a module is not here, or its files cannot be kept.
        CorruptFileError: the snapshot is damaged.
    """
    named = _named(study)
    snapshot = read_study(paths)
    known = () if snapshot is None else import_paths_of(snapshot)
    try:
        recorded = recorded_code(snapshot or {})
    except ValueError as error:
        raise CorruptFileError(f"{paths.study}: {error}") from error
    new = code_now(path for path in named if path not in known)
    code = {path: recorded[path] for path in named if path in recorded}
    return replace(study, code={**code, **{path: it.fingerprint for path, it in new.items()}})


def report_unrecorded_code(study: Study, say: Callable[[str], object]) -> None:
    """Say whose changes cannot be seen: what a version named that recorded no code.

    Args:
        study: the study, from `with_recorded_code`.
        say: takes the message.
    """
    unrecorded = code_now(path for path in _named(study) if path not in study.code)
    if unrecorded:
        say(
            f"The code of {join_names(sorted(unrecorded))} was not recorded when this study began:"
            " whether it has changed since is not known."
        )


def refuse_changed_code(study: Study, paths: StudyPaths) -> list[CodeChange]:
    """Refuse to continue with other code than the study's trials were trained by.

    Args:
        study: the study, from `with_recorded_code`.
        paths: its results folder.

    Returns:
        What changed, none of which has a trial: a first attempt may have shown what to correct.

    Raises:
        PodiumError: with the files that differ, and how.
        TrialInputError: a module is not here, or its files cannot be read.
    """
    changes = changed_code(study.code, paths)
    used = _used(paths) if changes else set()
    mixed = [change for change in changes if change.import_path in used]
    if mixed:
        shown = "\n".join(_shown(change, paths) for change in mixed)
        raise PodiumError(
            f"{paths.folder} holds results of code that has changed since:\n{shown}\nTrials of"
            " both cannot be compared. Restore the original code, give the study a new name, or"
            " put the changed class into a module of another name and add it as another loss or"
            " backbone."
        )
    return changes


def renew_unused_code(study: Study, paths: StudyPaths, say: Callable[[str], object]) -> Study:
    """The study with the code as it is now where no trial was trained by what was recorded.

    What was suggested for such trials is deleted, with their checkpoints, since their ids hold
    the recorded code.

    Args:
        study: the study, from `with_recorded_code`.
        paths: its results folder, whose lock is held.
        say: takes messages on what begins anew.

    Raises:
        PodiumError: there are trials of the recorded code.
    """
    changed = {change.import_path for change in refuse_changed_code(study, paths)}
    if not changed:
        return study
    asks = read_asks(paths)
    for search in searches(study):
        if changed & set(import_paths((search.loss,), (search.block.backbone,))):
            for ask in asks.get(search.id, ()):
                remove_folder(paths.checkpoint_folder(ask.trial_id))
            remove_asks(paths, search.id)
    names = join_names(sorted(changed))
    say(f"The code of {names} changed before any of its trials ended: its searches start over.")
    now = {path: code.fingerprint for path, code in code_now(changed).items()}
    return replace(study, code={**study.code, **now})


def write_study_code(study: Study, paths: StudyPaths) -> None:
    """Write copies of the code that the results folder does not have yet.

    Raises:
        PodiumError: the code changed while podium started.
    """
    missing = {
        path: fingerprint
        for path, fingerprint in study.code.items()
        if read_code_record(paths, fingerprint) is None
    }
    for path, code in code_now(missing).items():
        if code.fingerprint != missing[path]:
            raise PodiumError(f"the code of {path} was changed while podium started: start again")
        record = CodeRecord(files=code.files, packages=dict(code.packages))
        write_code(paths, code.fingerprint, record, dict(code.sources))


def keep_recorded_files(paths: StudyPaths) -> None:
    """Know the files of losses as a results folder has them: where somebody trusts the folder.

    Raises:
        CorruptFileError: a copy is missing or damaged.
    """
    for path, fingerprint in recorded_code(read_study(paths) or {}).items():
        file = file_of(path)
        if not file:
            continue
        record = read_code_record(paths, fingerprint)
        data = read_code_file(paths, fingerprint, file)
        if (
            record is None
            or data is None
            or hashlib.sha256(data).hexdigest() != record.files.get(file)
            or fingerprint_of(record.files, record.packages) != fingerprint
        ):
            copy = paths.code_folder(fingerprint) / file
            raise CorruptFileError(f"{copy} is missing or not what was recorded")
        keep_files({file: data})


def code_provenance(study: Study, paths: StudyPaths) -> dict[str, dict[str, Any]]:
    """Import path -> fingerprint, files and packages, for the provenance."""
    found = {}
    for path, fingerprint in sorted(study.code.items()):
        record = read_code_record(paths, fingerprint)
        if record is None:
            raise CorruptFileError(f"{paths.code_record(fingerprint)} is missing")
        found[path] = {
            "fingerprint": fingerprint,
            "files": sorted(record.files),
            "packages": sorted(record.packages),
        }
    return found


def _used(paths: StudyPaths) -> set[str]:
    """Import paths of all losses and backbones that have rows."""
    from orchestrator.results.trial_files.reader import Reader  # loads polars, which plans spare

    rows = Reader(paths.folder).trials().select("loss", "backbone").unique().collect()
    return {path for loss, backbone in rows.rows() for path in import_paths((loss,), (backbone,))}


def _named(study: Study) -> tuple[str, ...]:
    return import_paths(study.loss_names, [item.name for item in study.backbones])


def _shown(change: CodeChange, paths: StudyPaths) -> str:
    copy = f"  {change} (as it was: {paths.code_folder(change.fingerprint)})"
    return f"{copy}\n{change.diff}" if change.diff else copy

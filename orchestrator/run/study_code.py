"""The code that a study names by import path: recorded when it is first used, the same ever after.

Trials that were trained by other code are not comparable, so a run with other code is refused. A
copy of each file lies beside the results, under the fingerprint; it is run only on request.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from podium.errors import PodiumError
from podium.orchestrator.results.records.journal import read_asks, remove_journal
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_provenance, read_study
from podium.orchestrator.results.storage.files import put, remove
from podium.orchestrator.study.blocks import searches
from podium.orchestrator.study.foreign_code import (
    changed_code,
    code_now,
    import_paths,
    read_copies,
)
from podium.orchestrator.study.study import Study
from podium.trainables.foreign_code import ForeignCode
from podium.trainables.own_files import file_of, keep_files


def with_recorded_code(study: Study, paths: StudyPaths) -> Study:
    """The study with the fingerprints of its snapshot, and of what it newly names as it is now.

    Raises:
        TrialInputError: a module is not here, or its files cannot be read.
        CorruptFileError: the snapshot is damaged.
    """
    recorded = (read_study(paths) or {}).get("code", {})
    others = [item.name for item in study.backbones]
    named = import_paths(study.loss_names, [*others, study.training.transform])
    code = {path: recorded[path] for path in named if path in recorded}
    new = code_now(path for path in named if path not in recorded)
    return replace(study, code={**code, **{path: it.fingerprint for path, it in new.items()}})


def refuse_changed_code(study: Study, paths: StudyPaths) -> set[str]:
    """Refuse to continue a study, from `with_recorded_code`, with other code than its trials had.

    Returns:
        Import paths whose code changed and that no trial was trained by: a first attempt may have
        shown what to correct.

    Raises:
        PodiumError: naming what changed, with both hashes.
        TrialInputError: a module is not here, or its files cannot be read.
    """
    changes = changed_code(study.code)
    used = _used(study, paths) if changes else set()
    if lines := [
        f"  {_key(study, path)}: {text} (as it was: {paths.code_folder(study.code[path])})"
        for path, text in changes.items()
        if path in used
    ]:
        raise PodiumError(
            f"{paths.folder} holds results of code that has changed since:\n"
            + "\n".join(lines)
            + "\nTrials of both cannot be compared. Restore the original code, or give the study a"
            " new name. A loss or backbone may also join as another one, in a module of another"
            " name."
        )
    return set(changes)


def _key(study: Study, path: str) -> str:
    """The key of a study file that names an import path."""
    if path == study.training.transform:
        return "training.transform"
    return "backbones" if path in (item.name for item in study.backbones) else "losses"


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
    changed = refuse_changed_code(study, paths)
    if not changed:
        return study
    asks = read_asks(paths)
    for search in searches(study):
        others = (search.block.backbone, study.training.transform)
        if changed & set(import_paths((search.loss,), others)):
            remove(*(paths.checkpoint(ask.trial_id) for ask in asks.get(search.id, ())))
            remove_journal(paths, search.id)
    names = ", ".join(sorted(changed))
    say(f"The code of {names} changed before any of its trials ended: its searches start over.")
    now = {path: code.fingerprint for path, code in code_now(changed).items()}
    return replace(study, code={**study.code, **now})


def write_study_code(study: Study, paths: StudyPaths) -> dict[str, dict[str, Any]]:
    """Write copies of the code that the results folder does not have yet.

    Returns:
        Import path -> fingerprint, files and packages, for the provenance.

    Raises:
        PodiumError: the code changed while podium started.
    """
    before: Mapping[str, Any] = (read_provenance(paths) or {}).get("code", {})
    told = {}
    for path, fingerprint in sorted(study.code.items()):
        if before.get(path, {}).get("fingerprint") == fingerprint:
            told[path] = before[path]
            continue
        code = code_now([path]).get(path, ForeignCode())
        if code.fingerprint != fingerprint:
            raise PodiumError(f"the code of {path} was changed while podium started: start again")
        for name, data in code.sources.items():
            put(paths.code_folder(fingerprint) / name, data)
        told[path] = {
            "fingerprint": fingerprint,
            "files": sorted(code.sources),
            "packages": dict(code.packages),
        }
    return told


def keep_recorded_files(paths: StudyPaths) -> None:
    """Know the files of losses as a results folder has them: where somebody trusts the folder.

    Raises:
        CorruptFileError: a copy is missing or damaged.
    """
    for path, told in (read_provenance(paths) or {}).get("code", {}).items():
        if file := file_of(path):
            keep_files({file: read_copies(paths, told)[file]})


def _used(study: Study, paths: StudyPaths) -> set[str]:
    """Import paths of all losses and backbones that have rows, and of the transform if any has."""
    from podium.orchestrator.results.trial_files.reader import (
        Reader,  # loads polars, which plans spare
    )

    rows = Reader(paths.folder).trials().select("loss", "backbone").unique().collect()
    transform = study.training.transform
    trained = [import_paths((loss,), (backbone, transform)) for loss, backbone in rows.rows()]
    return set(itertools.chain.from_iterable(trained))

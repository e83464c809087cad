"""Checks the files of the whole study, its lock and its runs, and what compactions left."""

from collections.abc import Mapping
from typing import Any

from orchestrator.results.locks.lock_owner import is_dead
from orchestrator.results.locks.study_lock import lock_file, lock_owner
from orchestrator.results.records.provenance_record import check_versions
from orchestrator.results.records.runs import Run, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_provenance, read_study
from orchestrator.results.storage.files import exists, read_json, read_record
from orchestrator.results.trial_files.compaction_manifest import loose_trials, take_inventory
from orchestrator.results.trial_files.integrity import leftover_files
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study import Study
from orchestrator.verify.findings import Findings
from podium.errors import CorruptFileError, StudyError


def stored_study(paths: StudyPaths, name: str, findings: Findings) -> Study | None:
    """The study as it is stored; None if it cannot be read, which is reported."""
    findings.checked["files of the study"] += 1
    with findings.reading(paths.study):
        values = read_study(paths)
        if values is None:
            raise CorruptFileError(f"{paths.study} is missing")
        if values.get("name") != name:
            rule = f"must be of the study {name!r}, as store.json says"
            findings.problem(paths.study, rule, repr(values.get("name")))
            return None
        try:
            return study_from_resolved(values)
        except StudyError as error:
            findings.problem(paths.study, str(error))
    return None


def stored_provenance(paths: StudyPaths, name: str, findings: Findings) -> Mapping[str, Any]:
    """The provenance; empty if it cannot be read, which is reported."""
    findings.checked["files of the study"] += 2  # store.json was read before anything else
    with findings.reading(paths.provenance):
        values = read_provenance(paths)
        if values is None:
            raise CorruptFileError(f"{paths.provenance} is missing")
        if values.get("study", name) != name:
            rule = f"must be of the study {name!r}, as store.json says"
            findings.problem(paths.provenance, rule, repr(values["study"]))
        check_versions(paths.provenance, values)
        _note_missing_checksums(paths, findings)
        return values
    return {}


def known_runs(paths: StudyPaths, findings: Findings) -> list[Run]:
    """The account of each run; empty if one cannot be read, which is reported."""
    with findings.reading(paths.runs):
        runs = list(read_runs(paths))
        findings.checked["runs"] += len(runs)
        return runs
    return []


def check_leftovers(paths: StudyPaths, findings: Findings) -> None:
    """What a killed compaction left."""
    with findings.reading(paths.segments):
        inventory = take_inventory(paths)
        for path in leftover_files(paths, inventory):
            findings.note(path, "left by a compaction that was killed", "podium run deletes it")
        if exists(paths.unfinished_compaction):
            findings.note(
                paths.unfinished_compaction,
                "a compaction is unfinished; until then other programs cannot read the folder",
                "podium run finishes it",
            )
        superseded = sum(trial in inventory.manifest for trial in loose_trials(paths))
        if superseded:
            advice = "podium run deletes them"
            findings.note(paths.trials, f"{superseded} files were compacted and remain", advice)


def check_locks(paths: StudyPaths, findings: Findings) -> None:
    """The process that holds the lock of the study, if any."""
    with findings.reading(paths.lock):
        owner, place = lock_owner(paths), lock_file(paths).place
        if owner is not None and is_dead(owner):
            findings.note(place, f"left by {owner}, which is dead", "the next run takes it over")
        elif owner is not None:
            findings.note(place, f"held by {owner}: work in progress is shown as it was found")


def _note_missing_checksums(paths: StudyPaths, findings: Findings) -> None:
    """The files of the snapshot are written together, so that store.json speaks for all."""
    if "sha256" not in (read_json(paths.store) or {}):
        findings.note(paths.folder, "store.json is from before files held their own SHA-256")
        return
    content = read_record(paths.study) or b""
    for file, has_checksum in (
        (paths.provenance, "sha256" in (read_json(paths.provenance) or {})),
        # A missing study.yaml is reported elsewhere.
        (paths.study, not content or b"\n# sha256 " in content),
    ):
        if not has_checksum:
            findings.note(file, "holds no SHA-256 of its own: it was not written by podium run")

"""Checks the copies of code that a study names by import path, and that its trials ran that code.

Nothing is imported: hashes are recomputed from the copies.
"""

import hashlib

from orchestrator.results.records.code_copies import (
    CodeRecord,
    read_code_file,
    read_code_record,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.foreign_code import code_of_trial
from orchestrator.study.study import Study
from orchestrator.verify.findings import Findings
from orchestrator.verify.stored_study import StoredStudy
from orchestrator.verify.stored_trials import StoredTrial
from orchestrator.verify.trial_row_rules import settings_of
from trainables.foreign_code import fingerprint_of

_BRING_BACK = "Restore the original file from a copy"


def check_code(stored: StoredStudy, findings: Findings) -> None:
    """Copies are as they were recorded, and all trials are of the recorded code."""
    paths = stored.paths
    for import_path, fingerprint in stored.study.code.items():
        path = paths.code_record(fingerprint)
        with findings.reading(path):
            record = read_code_record(paths, fingerprint)
            if record is None:
                rule = f"the record of the code of {import_path} is missing"
                findings.problem(path, rule, advice=_BRING_BACK)
            elif fingerprint_of(record.files, record.packages) != fingerprint:
                rule = (
                    f"must be the record of the code of {import_path}: its folder is {fingerprint}"
                )
                findings.problem(path, rule, fingerprint_of(record.files, record.packages))
            else:
                _check_files(paths, fingerprint, record, findings)
    for trial, settings in stored.trials.with_settings():
        _check_trial(stored.study, trial, settings, findings)


def _check_files(
    paths: StudyPaths, fingerprint: str, record: CodeRecord, findings: Findings
) -> None:
    for name, recorded in record.files.items():
        path = paths.code_folder(fingerprint) / name
        with findings.reading(path):
            data = read_code_file(paths, fingerprint, name)
            found = "missing" if data is None else hashlib.sha256(data).hexdigest()
            if found != recorded:
                rule = f"a copy of code must have the SHA-256 {recorded}, as its record says"
                findings.problem(path, rule, found, _BRING_BACK)
        findings.checked["copies of code"] += 1


def _check_trial(study: Study, trial: StoredTrial, text: str, findings: Findings) -> None:
    settings = settings_of(text)
    if settings is None:
        return  # reported where rows are checked
    expected = code_of_trial(study.code, settings.loss, settings.backbone.name)
    if dict(settings.code) != expected:
        rule = f"trial {trial.row['trial_id']} must be of the study's code, {expected}"
        findings.problem(trial.file, rule, dict(settings.code))

"""Checks the copies of code that a study names by import path, and that its trials ran that code.

Nothing is imported: hashes are recomputed from the copies.
"""

from orchestrator.study.foreign_code import code_of_trial, read_copies
from orchestrator.verify.findings import Findings
from orchestrator.verify.stored_study import StoredStudy
from orchestrator.verify.trial_row_rules import settings_of


def check_code(stored: StoredStudy, findings: Findings) -> None:
    """Copies are as they were recorded, and all trials are of the recorded code."""
    told = stored.provenance.get("code", {})
    for path, fingerprint in stored.study.code.items():
        with findings.reading(stored.paths.provenance):
            recorded = told.get(path, {}).get("fingerprint")
            if recorded != fingerprint:
                rule = f"the code of {path} must have the SHA-256 {fingerprint} of the study"
                findings.problem(stored.paths.provenance, rule, recorded)
            else:
                findings.checked["copies of code"] += len(read_copies(stored.paths, told[path]))
    for trial, text in stored.trials.with_settings():
        settings = settings_of(text)
        if settings is None:
            continue  # reported where rows are checked
        expected = code_of_trial(stored.study.code, settings.loss, settings.backbone.name)
        if dict(settings.code) != expected:
            rule = f"trial {trial.row['trial_id']} must be of the study's code, {expected}"
            findings.problem(trial.file, rule, dict(settings.code))

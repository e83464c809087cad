"""Checks every file and every invariant of a results folder, and changes nothing.

It may run while the study runs. Accounts of runs are read before rows, rows before asks, and these
before attempts and artifacts, since they are written in the opposite order: so whatever is found
has what it refers to, even if it was written while others were read.
"""

import re
from collections.abc import Callable
from typing import Any

import polars as pl

from podium.errors import CorruptFileError
from podium.kept_files.tensor_file import decode_tensors
from podium.orchestrator.ids_and_seeds import NUMERICS_VERSION
from podium.orchestrator.results.locks.study_lock import lock_owner
from podium.orchestrator.results.records.journal import SearchJournal, read_journals
from podium.orchestrator.results.records.runs import Run, read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import (
    own_provenance,
    read_store,
    started_study,
)
from podium.orchestrator.results.storage.files import contents, list_files, read_whole
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.inventory import bad_files, trial_files
from podium.orchestrator.run.study_control import read_control
from podium.orchestrator.study.blocks import with_trials_per_search
from podium.orchestrator.study.foreign_code import read_copies
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.orchestrator.study.study import Study
from podium.orchestrator.verify.findings import Findings
from podium.orchestrator.verify.trial_rules import check_identities, check_trials, read_rows
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.dataset_interface.load_dataset import load_dataset_anew
from podium.trainables.errors import TrialInputError

_TRIAL_FILE = re.compile(r"trials/[^/]+/[^/]+\.parquet")
_SUFFIX = ".safetensors"
_NO_FILE = "must be a file or a folder: podium follows no link, and reads no pipe or device"
_COUNTED = (
    "no Parquet file but those of trials may lie here: **/*.parquet would count it. Move it"
    " elsewhere"
)
c = pl.col  # c.state is the column of that name


def verify_store(folder: Place, *, tell: Callable[[str], object] = lambda _: None) -> Findings:
    """Everything that is wrong with a results folder, and what was not checked.

    Raises:
        PodiumError: it is not a results folder, or one of another version of podium.
        CorruptFileError: store.json does not say which columns there are.
        StoreError: the store cannot be read.
    """
    paths, findings = StudyPaths(folder), Findings(tell=tell)
    if not _check_contents(paths, findings):
        findings.note("nothing else was checked: no command reads such a folder")
        return findings
    read_store(paths)  # or it is no results folder of this podium
    study, datasets = _stored_study(paths, findings)
    rows, runs, journals = pl.DataFrame(), list[Run](), dict[str, SearchJournal]()
    with findings.reading(paths.locks):
        lock_owner(paths)
    with findings.reading(paths.runs):
        runs = read_runs(paths)
    with findings.reading(paths.trials):
        damaged = bad_files(trial_files(paths), read_store(paths))
        for text in damaged:
            findings.problem(paths.trials, text)
        findings.is_readable &= not damaged
        if study is not None and findings.is_readable:
            findings.tell("reading the trials")
            rows = read_rows(paths, study)
            findings.checked["trials"] = rows.height
    with findings.reading(paths.folder):
        journals = read_journals(paths)
    _check_kept(paths, study, rows, findings)
    if study is None or not findings.is_readable:
        findings.note("values were not checked, since files cannot be read")
        return findings
    check_trials(paths, study, runs, rows, journals, findings)
    with findings.reading(paths.journals):
        asks = {search: journal.asks for search, journal in journals.items()}
        check_identities(paths, study, rows, asks, datasets, findings)
    return findings


def _check_contents(paths: StudyPaths, findings: Findings) -> bool:
    """Whether the folder's content can be read, by names and kinds: no command follows links."""
    findings.tell("listing the folder")
    is_safe = True
    for name, kind in contents(paths.folder):
        if kind not in ("file", "folder"):
            is_safe = False
            findings.problem(paths.folder / name, f"{_NO_FILE}; it is {kind}")
        if name.endswith(".parquet") and not _TRIAL_FILE.fullmatch(name):
            findings.problem(paths.folder / name, _COUNTED)
    return is_safe


def _stored_study(
    paths: StudyPaths, findings: Findings
) -> tuple[Study | None, dict[str, Dataset]]:
    """The study with the trials of its searches, and those of its data sets that are here."""
    study, provenance, datasets = None, dict[str, Any](), dict[str, Dataset]()
    with findings.reading(paths.provenance):
        provenance = own_provenance(paths)
    with findings.reading(paths.study):
        study = with_trials_per_search(study_from_resolved(started_study(paths)))
    if study is None:
        return None, {}
    with findings.reading(paths.control):
        read_control(study, paths)
    for path, fingerprint in study.code.items():
        with findings.reading(paths.provenance):
            told = provenance.get("code", {}).get(path)
            if told is None or told["fingerprint"] != fingerprint:
                text = f"must tell of the code of {path} with the SHA-256 {fingerprint}"
                raise CorruptFileError(f"{paths.provenance} {text} of the study")
            findings.checked["copies of code"] += len(read_copies(paths, told))
    if provenance.get("numerics_version") != NUMERICS_VERSION:
        findings.note("trials are of another version of the numerics: no id was recomputed")
        return study, {}
    for settings in study.datasets:
        findings.tell(f"loading the data set {settings.label}")
        try:
            datasets[settings.label] = load_dataset_anew(settings)
        except (TrialInputError, OSError) as error:
            text = f"data set {settings.label} is not on this machine"
            findings.note(f"{text}, so its ids were not recomputed: {error}")
    return study, datasets


def _check_kept(
    paths: StudyPaths, study: Study | None, rows: pl.DataFrame, findings: Findings
) -> None:
    """Kept files are whole, and trials have the files that the study keeps."""
    keep = study.keep if study is not None and rows.height else None
    for kind, folder, is_kept, stages in (
        ("model", paths.models, keep and keep.models, ("final",)),
        ("embeddings", paths.embeddings, keep and keep.embeddings, ("final", "baseline")),
    ):
        files = list_files(folder, _SUFFIX)
        for file in files:
            findings.tell(f"reading {folder.name}/{file.name}")
            with findings.reading(file):
                facts, _ = decode_tensors(read_whole(file), kind, str(file))
                findings.checked["weights and embeddings"] += 1
                origin, trial_id = facts.get("origin"), file.name.split(".")[0]
                if not isinstance(origin, dict) or origin.get("trial_id") != trial_id:
                    findings.problem(file, f"must be of trial {trial_id}; it is of {origin!r}")
        if is_kept:
            due = rows.filter(c.stage.is_in(stages), c.state == "COMPLETE", c.same_as.is_null())
            name_of = pl.format(f"{{}}.{{}}{_SUFFIX}", "trial_id", "fold")
            names = due.drop_nulls("fold").select(name_of).to_series()
            for name in sorted({*names} - {file.name for file in files}):
                text = "is of a committed trial, and the study keeps it: it is missing. Restore it"
                advice = f"if it was deleted on purpose, set keep.{folder.name} to false"
                findings.problem(folder / name, f"{text}; {advice}")

"""Checks every file and every invariant of a results folder, and changes nothing.

It may run while the study runs. Accounts of runs are read before rows, rows before asks, and these
before attempts and artifacts, since they are written in the opposite order: so whatever is found
has what it refers to, even if it was written while others were read.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import polars as pl

from orchestrator.results.locks.lock_owner import is_dead
from orchestrator.results.locks.study_lock import lock_owner
from orchestrator.results.records.artifact_files import read_artifact
from orchestrator.results.records.asks import Ask
from orchestrator.results.records.journal import retried_failures
from orchestrator.results.records.provenance_record import check_versions
from orchestrator.results.records.runs import Run, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_provenance, read_study, study_name
from orchestrator.results.storage.files import contents, list_folders, list_names, read_bytes
from orchestrator.results.storage.locations import TEMPORARY_SUFFIX, Place
from orchestrator.results.storage.printable_text import has_control_characters
from orchestrator.run.study_control import read_control
from orchestrator.study.blocks import searches
from orchestrator.study.budget import with_trials_per_search
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study import KeepSettings, Search, Study
from orchestrator.verify.findings import WRONG_VALUES, Findings, some_of
from orchestrator.verify.recomputed import (
    check_code,
    check_replay,
    maker_of,
    readable_datasets,
    row_check,
)
from orchestrator.verify.trial_rows import read_rows
from orchestrator.verify.trials_of_study import (
    check_asks,
    check_attempts,
    check_groups,
    check_lost_rows,
    check_retried,
    check_searches,
    read_sound_journals,
)
from podium.errors import CorruptFileError, StudyError
from podium.kept_files.tensor_file import decode_tensors
from trainables.errors import CheckpointError, TrialInputError

_FOLDERS = {
    *("checkpoints", "code", "embeddings", "journal", "logs", "models", "runs", "trials"),
}
# What podium reads or writes. Whether a file fits its name is for its reader to say.
_FILES = re.compile(
    r"(store|provenance|lock|runs)\.json|(study|control)\.yaml|report\.html|\.lock-guard"
    r"|trials/[^/]+/[^/]+\.parquet"
    r"|journal/[^/]+/[0-9]+\.jsonl"
    r"|runs/[^/]+\.json"
    r"|checkpoints/[^/]+/(state|unusable)\.pt"
    r"|(models|embeddings)/[^/]+\.safetensors"
    r"|code/[^/]+/.+"
    r"|logs/([^/]+/)?[^/]+\.log"
)
_SHOWN = 20
_SUFFIX = ".safetensors"


def verify_store(
    folder: Place, *, replay: bool = False, tell: Callable[[str], object] = lambda _: None
) -> Findings:
    """Everything that is wrong with a results folder, or worth a note.

    Args:
        folder: the results folder.
        replay: whether every suggestion is drawn again, too.
        tell: takes messages on what is being checked, to show progress.

    Raises:
        PodiumError: it is not a results folder, or one of another version of podium.
        CorruptFileError: store.json does not say which columns there are.
        StoreError: the store cannot be read.
    """
    paths, findings = StudyPaths(folder), Findings(tell=tell)
    if not _check_contents(paths, findings):
        findings.note(paths.folder, "nothing else was checked: no command reads such a folder")
        return findings
    name = study_name(paths)
    _check_lock(paths, findings)
    study = _stored_study(paths, name, findings)
    provenance = _stored_provenance(paths, name, findings)
    runs = list[Run]()  # before the rows, which are committed before they count
    with findings.reading(paths.runs):
        runs = read_runs(paths)
    findings.checked["runs"] += len(runs)
    rows, maker = None, None
    if study is None:
        with findings.reading(paths.trials):
            rows = read_rows(paths, name, findings)
    else:
        check_code(paths, study, provenance, findings)
        datasets = readable_datasets(paths, study, findings)
        numerics = provenance.get("numerics_version")
        by_study = row_check(paths, study, numerics, datasets, findings)
        with findings.reading(paths.trials):
            rows = read_rows(
                paths, name, findings, tests_searches=study.tests_searches, by_study=by_study
            )
            maker = maker_of(paths, study, datasets, rows, findings)
    planned = None if study is None else _planned(paths, study, findings)

    def expected_id(ask: Ask) -> str | None:
        if maker is None or planned is None or ask.search not in planned:
            return None
        findings.checked["ids recomputed"] += 1
        try:
            spec = maker.search_trial(planned[ask.search], ask.index, ask.hyperparameters)
        except WRONG_VALUES as error:
            return f"none, by {error!r},"
        return spec.trial_id

    journals = read_sound_journals(paths, runs, findings)
    asks = check_asks(paths, journals, expected_id, findings)
    retried = retried_failures(journals)
    findings.checked["withdrawn failures"] += sum(map(len, retried.values()))
    if study is not None and rows is not None:
        check_lost_rows(paths, runs, rows.height, findings)
        check_groups(rows, findings)
        now = with_trials_per_search(study).search.trials
        most_trials = max([now, *(run.trials_per_search for run in runs)])
        check_searches(paths, planned, most_trials, rows, asks, retried, findings)
        check_retried(paths, retried, rows, asks, findings)
        if replay and maker is not None:
            check_replay(paths, study, runs, retried, maker, findings)
    committed = set() if rows is None else set(rows["trial_id"])
    open_trials = set(asks["trial_id"]) - committed
    if open_trials:
        findings.note(
            paths.journals,
            f"{len(open_trials)} trials were suggested and have no row: they are running, or the"
            " run was interrupted",
            "podium run continues with them",
        )
    if rows is not None:
        check_attempts(paths, journals, rows, open_trials, findings)
        _check_kept(paths, rows, study.keep if study else None, findings)
    _check_checkpoints(paths, committed, open_trials, findings)
    return findings


def _check_contents(paths: StudyPaths, findings: Findings) -> bool:
    """Check everything in the folder by its name and kind, before anything is read.

    Returns:
        Whether the rest can be checked: every command refuses a folder that leads elsewhere.
    """
    findings.tell("listing the folder")
    found = contents(paths.folder)
    for name, kind in found:
        if problem := _misplaced(name, kind):
            findings.problem(paths.folder / name, *problem)
    is_safe = not findings.problems
    unknown = [name for name, kind in found if kind == "file" and not _FILES.fullmatch(name)]
    for name in (name for name in unknown if name.endswith(".parquet")):
        findings.problem(
            paths.folder / name,
            "no Parquet file but those of trials may lie in the folder: podium does not read it,"
            " and whoever reads **/*.parquet counts its rows",
            advice="Move it elsewhere",
        )
    others = [name for name in unknown if not name.endswith(".parquet")]
    hidden = [name for name in others if name.startswith(".") or "/." in name]
    half = [name for name in hidden if name.endswith(TEMPORARY_SUFFIX)]
    hidden = [name for name in hidden if name not in half]
    top = [name for name, kind in found if kind == "folder" and "/" not in name]
    foreign = [name for name in top if name not in _FOLDERS and not name.startswith(".")]
    own = [it for it in others if it not in {*half, *hidden} and it.split("/")[0] not in foreign]
    for name in sorted(foreign + own)[:_SHOWN]:
        findings.note(paths.folder / name, "is not podium's, and is not read")
    if (rest := len(foreign) + len(own) - _SHOWN) > 0:
        findings.note(paths.folder, f"{rest} more files are not podium's, and are not read")
    if half:
        findings.note(
            paths.folder,
            f"{len(half)} half-written files (.*.tmp), in progress, or left by a killed process",
            "podium run deletes what was left when it ends the study",
        )
    if hidden:
        told = f"{len(hidden)} hidden files are not podium's, and are not read: {some_of(hidden)}"
        findings.note(paths.folder, told)
    return is_safe


def _misplaced(name: str, kind: str) -> tuple[str, str, str] | None:
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


def _check_lock(paths: StudyPaths, findings: Findings) -> None:
    """The process that holds the lock of the study, if any."""
    with findings.reading(paths.lock):
        owner, place = lock_owner(paths), paths.lock
        if owner is not None and is_dead(owner):
            findings.note(place, f"left by {owner}, which is dead", "the next run takes it over")
        elif owner is not None:
            findings.note(place, f"held by {owner}: work in progress is shown as it was found")


def _stored_study(paths: StudyPaths, name: str, findings: Findings) -> Study | None:
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


def _planned(paths: StudyPaths, study: Study, findings: Findings) -> dict[str, Search] | None:
    """The searches of a study by id, once control.yaml fits them; None without its data."""
    try:
        planned = {search.id: search for search in searches(study)}
        with findings.reading(paths.control):
            read_control(study, paths)
        return planned
    except StudyError as error:
        told = (
            "; ".join(error.problems).replace(f"{paths.control}:", "line ").replace("line  ", "")
        )
        findings.problem(paths.control, told, advice="Correct or delete it")
        return planned
    except TrialInputError as error:
        rule = f"what searches it plans was not checked without its data: {error}"
        findings.note(paths.study, rule)
        return None


def _stored_provenance(paths: StudyPaths, name: str, findings: Findings) -> Mapping[str, Any]:
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
        return values
    return {}


def _check_kept(
    paths: StudyPaths, rows: pl.DataFrame, keep: KeepSettings | None, findings: Findings
) -> None:
    """Every kept file is whole and of its trial; committed trials have theirs.

    Args:
        paths: the results folder.
        rows: every trial with a row.
        keep: what the study keeps; None if that is not known.
        findings: collects problems and notes.
    """
    committed = set(rows["trial_id"])
    kinds: tuple[tuple[str, str, Place, bool, tuple[str, ...]], ...] = (
        ("model", "models", paths.models, bool(keep and keep.models), ("final",)),
        (
            "embeddings",
            "embeddings",
            paths.embeddings,
            bool(keep and keep.embeddings),
            ("final", "baseline"),
        ),
    )
    for kind, setting, folder, is_kept, stages in kinds:
        names = list_names(folder, _SUFFIX)
        for number, name in enumerate(names, start=1):
            findings.tell(f"reading {kind} file {number} of {len(names)}")
            file, trial_id = folder / name, name.split(".")[0]
            with findings.reading(file):
                facts, _ = decode_tensors(read_artifact(file), kind, str(file))
                findings.checked["weights and embeddings"] += 1
                of = facts.get("origin", {}).get("trial_id")
                if of != trial_id:
                    findings.problem(file, f"must be of trial {trial_id}", of)
        rowless = [name for name in names if name.split(".")[0] not in committed]
        if rowless:
            told = f"{len(rowless)} files belong to trials that have no row: {some_of(rowless)}"
            findings.note(folder, told, "podium run writes them again")
        due = rows.filter(
            pl.col("stage").is_in(stages),
            pl.col("state") == "COMPLETE",
            pl.col("same_as").is_null(),
            pl.col("fold").is_not_null(),
            pl.lit(is_kept),
        )
        for trial_id, fold in due.select("trial_id", "fold").iter_rows():
            if (name := f"{trial_id}.{fold}{_SUFFIX}") not in names:
                findings.problem(
                    folder / name,
                    f"trial {trial_id} is committed, and the study keeps {setting}",
                    "missing",
                    f"Restore the file; if it was deleted on purpose, set keep.{setting} to false",
                )


def _check_checkpoints(
    paths: StudyPaths, committed: Collection[str], open_trials: Collection[str], findings: Findings
) -> None:
    """Checkpoints are whole, and of trials that are not over."""
    for folder in list_folders(paths.checkpoints):
        if folder.name in committed:
            advice = "podium run deletes it when it ends the study"
            findings.note(folder, "left by a trial that is committed", advice)
        elif folder.name not in open_trials:
            findings.note(folder, "of a final or baseline that is not finished, or of no trial")
        for name in list_names(folder, ".pt"):
            content = read_bytes(folder / name)
            if content is None:  # its trial was committed at this moment
                continue
            findings.checked["checkpoints"] += 1
            if name != "state.pt":
                findings.note(folder / name, "could not be used and was set aside")
                continue
            # Takes half a gigabyte of memory with it, and few folders that are verified need it.
            from trainables.trial.checkpoint import verified_archive

            try:
                verified_archive(content)
            except CheckpointError as error:
                advice = "podium run sets it aside, and the trial starts from scratch"
                findings.problem(folder / name, str(error), advice=advice)

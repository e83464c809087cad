"""Checks what trials keep besides their rows: models and embeddings."""

import polars as pl

from orchestrator.results.records.artifact_files import read_artifact
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_names
from orchestrator.results.storage.locations import Place
from orchestrator.study.study import KeepSettings
from orchestrator.verify.findings import Findings, some_of
from orchestrator.verify.stored_trials import StoredTrials
from podium.kept_files.tensor_file import decode_tensors

_SUFFIX = ".safetensors"


def check_kept(
    paths: StudyPaths,
    trials: StoredTrials,
    keep: KeepSettings | None,
    findings: Findings,
) -> None:
    """Every file is whole and of its trial; committed trials have theirs.

    Args:
        paths: the results folder.
        trials: every trial with a row.
        keep: what the study keeps; None if that is not known.
        findings: collects problems and notes.
    """
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
            _whole(folder / name, kind, findings)
        rowless = [name for name in names if _trial_of(name) not in trials]
        if rowless:
            findings.note(
                folder,
                f"{len(rowless)} files belong to trials that have no row: {some_of(rowless)}",
                "podium run writes them again",
            )
        if is_kept:
            _all_there(folder, setting, stages, trials, set(names), findings)


def _trial_of(name: str) -> str:
    return name.split(".")[0]


def _whole(file: Place, kind: str, findings: Findings) -> None:
    trial_id = _trial_of(file.name)
    with findings.reading(file):
        facts, _ = decode_tensors(read_artifact(file), kind, str(file))
        findings.checked["weights and embeddings"] += 1
        of = facts.get("origin", {}).get("trial_id")
        if of != trial_id:
            findings.problem(file, f"must be of trial {trial_id}", of)


def _all_there(
    folder: Place,
    setting: str,
    stages: tuple[str, ...],
    trials: StoredTrials,
    names: set[str],
    findings: Findings,
) -> None:
    due = trials.where(
        pl.col("stage").is_in(stages),
        pl.col("state") == "COMPLETE",
        pl.col("same_as").is_null(),
        pl.col("fold").is_not_null(),
    )
    for row in (trial.row for trial in due):
        trial_id = row["trial_id"]
        name = f"{trial_id}.{row['fold']}{_SUFFIX}"
        if name not in names:
            findings.problem(
                folder / name,
                f"trial {trial_id} is committed, and the study keeps {setting}",
                "missing",
                f"Restore the file; if it was deleted on purpose, set keep.{setting} to false",
            )

"""The TRIAL argument of commands on one trial: an id as `podium trials` prints it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from podium.arguments.study_argument import (
    DEFAULT_STORAGE,
    GivenPlace,
    StorageFolder,
    given_place,
    results_folder,
)
from podium.errors import PodiumError
from podium.orchestrator.results.records.artifact_files import file_of_fold, model_files
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.local_copies import local_copy
from podium.orchestrator.results.storage.locations import Place

TrialId = Annotated[
    str, typer.Argument(metavar="TRIAL", help="As `podium trials` prints it, or how it starts.")
]
Fold = Annotated[
    int | None, typer.Option("--fold", help="Which fold, if the trial has several.", min=0)
]

_NUM_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    """A committed trial.

    Attributes:
        folders: results folders that hold the trial, sorted; studies may share trials.
        row: columns of the flat table of trials, from the first of ``folders``.
    """

    folders: tuple[Place, ...]
    row: Mapping[str, Any]

    @property
    def folder(self) -> Place:
        """The first results folder that holds the trial."""
        return self.folders[0]

    @property
    def trial_id(self) -> str:
        """The whole id."""
        return str(self.row["trial_id"])

    @property
    def trained_as(self) -> str:
        """The id it was trained under, which is another search's if it was trained for that."""
        return str(self.row["same_as"] or self.trial_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class InStudies:
    """Where a trial is looked for."""

    study: Annotated[
        GivenPlace | None,
        typer.Option(
            "--study",
            metavar="STUDY",
            parser=given_place,
            help="Study file or results folder; default: every study in the storage.",
        ),
    ] = None
    storage: StorageFolder = None

    def folders(self) -> list[Place]:
        """The results folders to look in.

        Raises:
            PodiumError: as of `results_folder`.
        """
        if self.study is not None:
            return [results_folder(self.study, self.storage)]
        from podium.orchestrator.results.storage.files import exists, list_studies

        folders = list_studies(self.storage or DEFAULT_STORAGE)
        return [folder for folder in folders if exists(StudyPaths(folder).study)]


def stored_trial(trial_id: str, folders: Sequence[Place]) -> StoredTrial:
    """The trial of that id in results folders, or the only one whose id starts with it.

    Raises:
        PodiumError: there is no such trial, or there are several.
    """
    found = _trials_like(trial_id, folders)
    if trial_id in found:
        return found[trial_id]
    if not found or not trial_id:
        looked = ", ".join(map(str, folders)) or "no results folder"
        raise PodiumError(f"no trial {trial_id!r}; looked in: {looked}")
    if len(found) > 1:
        some = ", ".join(sorted(found)[:_NUM_SHOWN])
        more = ", ..." if len(found) > _NUM_SHOWN else ""
        raise PodiumError(
            f"the ids of {len(found)} trials start with {trial_id!r}: {some}{more}; give more of "
            "the id"
        )
    return next(iter(found.values()))


def _trials_like(beginning: str, folders: Sequence[Place]) -> dict[str, StoredTrial]:
    """Every trial whose id starts so, by id."""
    import polars as pl

    from podium.orchestrator.results.trial_files.reader import Reader

    found: dict[str, StoredTrial] = {}
    for folder in folders:
        trials = Reader(folder).trials()
        like = trials.filter(pl.col("trial_id").str.starts_with(beginning)).collect()
        for row in like.iter_rows(named=True):
            known = found.get(row["trial_id"], StoredTrial(folders=(), row=row))
            found[row["trial_id"]] = replace(known, folders=(*known.folders, folder))
    return found


def model_of_fold(trial: StoredTrial, fold: int | None) -> Path:
    """The file of weights of one fold.

    Args:
        trial: a final trial.
        fold: index of the fold; None if the trial has only one.

    Raises:
        PodiumError: the trial left no weights, or none of this fold.
    """
    files = kept_files(trial, model_files)
    if files:
        return local_copy(file_of_fold(files, fold))
    raise PodiumError(why_nothing_kept(trial, "weights", ("final",)))


def why_nothing_kept(trial: StoredTrial, what: str, stages: Sequence[str]) -> str:
    """Why a trial left none of what trials of some stages leave, such as weights."""
    stage, state, name = trial.row["stage"], trial.row["state"], f"trial {trial.trial_id}"
    if stage not in stages:
        return f"{name} is of the stage {stage}; only {' and '.join(stages)} trials leave {what}"
    if state != "COMPLETE":
        return f"{name} left no {what}: its state is {state}"
    return (
        f"{name} has no {what} in {trial.folder}: they were deleted, or switched off by the"
        " study's `keep` when it ran"
    )


def kept_files(
    trial: StoredTrial, files_in: Callable[[StudyPaths, str], dict[int, Place]]
) -> dict[int, Place]:
    """Files by fold of the first study that kept any: they are the same in all of them."""
    found = (files_in(StudyPaths(folder), trial.trained_as) for folder in trial.folders)
    return next((files for files in found if files), {})


def refuse_existing(output: Path) -> None:
    """Raise PodiumError if ``output`` exists, or its folder does not."""
    if output.exists():
        raise PodiumError(f"{output} exists already and is not overwritten")
    if not output.parent.is_dir():
        raise PodiumError(f"what is written must be in a folder that exists; got {output}")

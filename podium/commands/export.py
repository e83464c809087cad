"""``podium export``: the results of a study for other tools, or the weights of a trial."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.results.storage.locations import Place, is_inside_folder
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.arguments.trial_argument import (
    Fold,
    InStudy,
    model_of_fold,
    refuse_existing,
    stored_trial,
)
from podium.errors import PodiumError
from podium.stop_signals import Stopped
from podium.terminal.printing import say

if TYPE_CHECKING:
    from trainables.saved_models.model_file import ModelFile

__all__ = ["command"]

_FORMS = "--optuna-journal, --tensorboard, --parquet or --csv"
_FOLDER_FORMS = ("--tensorboard", "--parquet", "--csv")
_POLL_SECONDS = 5.0


def command(
    source: Annotated[
        GivenPlace | None,
        typer.Argument(
            metavar="[STUDY]", parser=given_place, help="A study file (YAML) or a results folder."
        ),
    ] = None,
    optuna_journal: Annotated[
        Path | None,
        typer.Option(
            "--optuna-journal",
            metavar="FILE",
            help="Append searches and their trials to a journal of Optuna, for optuna-dashboard.",
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None,
        typer.Option(
            "--tensorboard",
            metavar="FOLDER",
            help="Write a run for every trial: scores by epoch, and hyperparameters.",
        ),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(
            "--parquet", metavar="FOLDER", help="Write the long tables as Parquet files."
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FOLDER", help="Write the long tables as CSV files."),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Keep adding trials to journal and runs, until all searches are over or Ctrl-C.",
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="TRIAL",
            help="Write the weights of a final trial: its id, or how the id starts.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="With --model: the safetensors file to write.")
    ] = None,
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code",
            help="Import modules that the study names, to know their losses' spaces.",
        ),
    ] = False,
    study: InStudy = None,
    storage: StorageFolder = None,
    fold: Fold = None,
) -> None:
    """Write the results of a study for other tools, or the weights of a trial as one file.

    Each call adds new trials to journal and runs, which may be open elsewhere meanwhile; tables
    are written again. All of them are derived: podium reads none of them back. Of weights every
    byte is checked, and an existing file is left alone.

    Examples: podium export STUDY --optuna-journal journal.log --watch

    podium export --model 3f2a --output weights.safetensors
    """
    if source is not None and study is not None:
        raise PodiumError(f"the study was given twice: {source} and --study {study}")
    forms = (optuna_journal, tensorboard, parquet, csv)
    if model is not None:
        if any(form is not None for form in forms) or watch:
            raise PodiumError(f"--model writes weights alone; it does not go with {_FORMS}")
        _export_model(model, output, source or study, storage, fold)
        return
    _check(source or study, forms, output, fold, watch=watch)
    assert source or study
    folder = results_folder(source or study or Path(), storage)
    _check_targets(folder, journal=optuna_journal, folders=forms[1:])
    for kind, target in (("parquet", parquet), ("csv", csv)):
        if target is not None:
            _export_tables(folder, target, kind)
    if optuna_journal is not None or tensorboard is not None:
        from trainables.importable_code import importing_nothing

        with nullcontext() if trust_code else importing_nothing(folder):
            _export_trials(folder, optuna_journal, tensorboard, watch=watch)


def _check(
    source: Place | None,
    forms: tuple[Path | None, ...],
    output: Path | None,
    fold: int | None,
    *,
    watch: bool,
) -> None:
    if source is None:
        raise PodiumError(f"export needs a STUDY with {_FORMS}, or --model TRIAL")
    if all(form is None for form in forms):
        raise PodiumError(f"export needs {_FORMS} to know what to write of {source}")
    for name, value in (("--output", output), ("--fold", fold)):
        if value is not None:
            raise PodiumError(f"{name} goes with --model")
    if watch and forms[0] is None and forms[1] is None:
        raise PodiumError("--watch goes with --optuna-journal or --tensorboard")


def _check_targets(
    folder: Place, *, journal: Path | None, folders: tuple[Path | None, ...]
) -> None:
    """Refuse what cannot be written, before anything is."""
    if journal is not None and journal.is_dir():
        raise PodiumError(f"--optuna-journal must be a file; {journal} is a folder")
    for name, target in zip(_FOLDER_FORMS, folders, strict=True):
        if target is not None and target.exists() and not target.is_dir():
            raise PodiumError(f"{name} must be a folder; {target} is a file")
    for target in (journal, *folders):
        if target is not None and is_inside_folder(folder, target):
            # A reader of all Parquet files of a results folder would count every row twice.
            raise PodiumError(
                f"what is derived must not lie among the results in {folder}; got {target}"
            )


def _export_tables(folder: Place, target: Path, kind: str) -> None:
    from analysis.scores.flat_tables import write_tables
    from orchestrator.results.trial_files.reader import Reader

    files = write_tables(Reader(folder), target, "parquet" if kind == "parquet" else "csv")
    say(f"Wrote {', '.join(file.name for file in files)} to {target}.")


def _export_trials(
    folder: Place, journal: Path | None, tensorboard: Path | None, *, watch: bool
) -> None:
    """Add new trials once; with ``watch``, until Ctrl-C or the end of all searches."""
    try:
        _add_trials(folder, journal, tensorboard)
        while watch and not _searches_are_over(folder):
            time.sleep(_POLL_SECONDS)
            _add_trials(folder, journal, tensorboard)
    except Stopped:
        if not watch:
            raise
        say("Stopped watching.")
    if journal is not None:
        say(f"Next: optuna-dashboard {journal}")
    if tensorboard is not None:
        say(f"Next: tensorboard --logdir {tensorboard}")


def _add_trials(folder: Place, journal: Path | None, tensorboard: Path | None) -> None:
    if journal is not None:
        from orchestrator.results_tools.optuna_journal import append_searches

        update = append_searches(folder, journal)
        if update.num_new:
            say(
                f"{journal}: {update.num_new} new of {update.num_trials} trials in"
                f" {update.num_studies} studies"
            )
    if tensorboard is not None:
        from orchestrator.results.trial_files.reader import Reader
        from podium.tensorboard_runs import write_runs

        num_new = write_runs(Reader(folder), tensorboard)
        if num_new:
            say(f"{tensorboard}: {num_new} new runs")


def _searches_are_over(folder: Place) -> bool:
    """Whether every search has used up its budget."""
    from orchestrator.results_tools.study_status import study_status

    total = study_status(folder).total
    return int(str(total["trials"])) >= int(str(total["planned"]))


def _export_model(
    model: str, output: Path | None, study: Place | None, storage: Place | None, fold: int | None
) -> None:
    if output is None:
        raise PodiumError("--model needs --output FILE")
    refuse_existing(output)
    trial = stored_trial(model, study, storage)
    source = model_of_fold(trial, fold)
    from orchestrator.results.storage.files import put
    from trainables.saved_models.model_file import read_model

    found = read_model(source)
    put(output, source.read_bytes())
    read_model(output)
    say(
        f"Wrote {_line(found)} to {output}.\n"
        f"Next: podium embed {output} FOLDER --output embeddings.npz"
    )


def _line(model: "ModelFile") -> str:
    settings = model.settings
    scores = "".join(
        f", test Recall@1 {score['value']:.4f}"
        for score in model.scores
        if (score["metric"], score["k"]) == ("recall", 1)
    )
    return (
        f"{settings.backbone.name} with {settings.embedding_dim} dimensions, {settings.loss} on "
        f"{settings.dataset.label}, epoch {model.epoch}{scores},"
    )

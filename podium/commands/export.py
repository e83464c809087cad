"""``podium export``: the results of a study for other tools, or the weights of a trial."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator.results.storage.locations import Place, is_inside_folder
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.arguments.trial_argument import (
    Fold,
    InStudy,
    TrialId,
    model_of_fold,
    refuse_existing,
    stored_trial,
)
from podium.errors import PodiumError
from podium.stop_signals import Stopped
from podium.terminal.printing import say

if TYPE_CHECKING:
    from trainables.saved_models.model_file import ModelFile

_POLL_SECONDS = 5.0

# Options that would choose the form, as some did before forms were commands -> what to say.
_AS_OPTIONS = {
    "--delta": "delta STUDY --output FOLDER",
    "--optuna-journal": "optuna STUDY --output FILE",
    "--tensorboard": "tensorboard STUDY --output FOLDER",
    "--parquet": "tables STUDY --output FOLDER",
    "--csv": "tables STUDY --csv --output FOLDER",
    "--model": "model TRIAL --output FILE",
}


class _Forms(TyperGroup):
    """The forms as commands; names the one that an option is taken for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # its type is private to typer
        if args and args[0] not in self.commands:
            for word in (arg.partition("=")[0] for arg in args):
                if word in _AS_OPTIONS:
                    ctx.fail(f"{word} is now: podium export {_AS_OPTIONS[word]}")
        return super().parse_args(ctx, args)


command = typer.Typer(
    cls=_Forms,
    help="""Write the results of a study for other tools, or the weights of a trial as one file.

    All of it is derived: podium reads none of it back.""",
    no_args_is_help=True,
)

_Folder = Annotated[Path, typer.Option("--output", metavar="FOLDER", help="The folder to write.")]
_Watch = Annotated[
    bool,
    typer.Option("--watch", help="Keep adding trials until all searches are over or Ctrl-C."),
]


@command.command()
def optuna(
    study: StudyPath,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The journal to append to.")],
    watch: _Watch = False,
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code",
            help="Run modules that the study names, and copies of its losses' files, to know"
            " the losses' spaces.",
        ),
    ] = False,
    storage: StorageFolder = None,
) -> None:
    """Append searches and their trials to a journal of Optuna, for optuna-dashboard.

    Each call adds new trials to the journal, which may be open elsewhere meanwhile.

    Example: podium export optuna STUDY --output journal.log --watch
    """
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results_tools.optuna_journal import append_searches
    from orchestrator.run.study_code import keep_recorded_files
    from trainables.importable_code import importing_nothing

    folder = results_folder(study, storage)
    if output.is_dir():
        raise PodiumError(f"--output must be a file; {output} is a folder")
    _refuse_inside(folder, output)

    def add() -> None:
        update = append_searches(folder, output)
        if update.num_new:
            say(
                f"{output}: {update.num_new} new of {update.num_trials} trials in"
                f" {update.num_studies} studies"
            )

    if trust_code:
        keep_recorded_files(StudyPaths(folder))
    with nullcontext() if trust_code else importing_nothing(folder):
        _add_trials(add, folder, watch=watch)
    say(f"Next: optuna-dashboard {output}")


@command.command()
def tensorboard(
    study: StudyPath, output: _Folder, watch: _Watch = False, storage: StorageFolder = None
) -> None:
    """Write a run of TensorBoard for every trial: scores by epoch, and hyperparameters.

    Each call adds new runs to the folder, which may be open elsewhere meanwhile.
    """
    from orchestrator.results.trial_files.reader import Reader
    from podium.tensorboard_runs import write_runs

    folder = _source_of_folder(study, storage, output)

    def add() -> None:
        num_new = write_runs(Reader(folder), output)
        if num_new:
            say(f"{output}: {num_new} new runs")

    _add_trials(add, folder, watch=watch)
    say(f"Next: tensorboard --logdir {output}")


@command.command()
def tables(
    study: StudyPath,
    output: _Folder,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of Parquet.")] = False,
    storage: StorageFolder = None,
) -> None:
    """Write the long tables as Parquet or CSV files, all of them again with each call."""
    from analysis.scores.flat_tables import write_tables
    from orchestrator.results.trial_files.reader import Reader

    folder = _source_of_folder(study, storage, output)
    files = write_tables(Reader(folder), output, "csv" if as_csv else "parquet")
    say(f"Wrote {', '.join(file.name for file in files)} to {output}.")


@command.command()
def delta(study: StudyPath, output: _Folder, storage: StorageFolder = None) -> None:
    """Write the long tables as tables of Delta Lake, each call a new version of them all.

    Each version holds each trial once. It needs the package deltalake: pip install
    'podium[delta]'.
    """
    from analysis.scores.delta_tables import write_delta_tables
    from orchestrator.results.trial_files.reader import Reader

    folder = _source_of_folder(study, storage, output)
    paths = write_delta_tables(Reader(folder), output)
    say(f"Wrote {', '.join(path.name for path in paths)} to {output}.")


@command.command()
def model(
    trial: TrialId,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The safetensors file to write.")],
    study: InStudy = None,
    storage: StorageFolder = None,
    fold: Fold = None,
) -> None:
    """Write the weights of a final trial as one file, every byte checked.

    An existing file is left alone.

    Example: podium export model 3f2a --output weights.safetensors
    """
    from orchestrator.results.storage.files import put
    from trainables.saved_models.model_file import read_model

    refuse_existing(output)
    source = model_of_fold(stored_trial(trial, study, storage), fold)
    found = read_model(source)
    put(output, source.read_bytes())
    read_model(output)
    say(
        f"Wrote {_line(found)} to {output}.\n"
        f"Next: podium embed {output} FOLDER --output embeddings.npz"
    )


def _source_of_folder(study: Place, storage: Place | None, output: Path) -> Place:
    """The results folder of a study, ``output`` being a folder that may be written."""
    folder = results_folder(study, storage)
    if output.exists() and not output.is_dir():
        raise PodiumError(f"--output must be a folder; {output} is a file")
    _refuse_inside(folder, output)
    return folder


def _refuse_inside(folder: Place, output: Path) -> None:
    if is_inside_folder(folder, output):
        # A reader of all Parquet files of a results folder would count every row twice.
        raise PodiumError(
            f"what is derived must not lie among the results in {folder}; got {output}"
        )


def _add_trials(add: Callable[[], None], folder: Place, *, watch: bool) -> None:
    """Add new trials once; with ``watch``, until Ctrl-C or the end of all searches."""
    try:
        add()
        while watch and not _searches_are_over(folder):
            time.sleep(_POLL_SECONDS)
            add()
    except Stopped:
        if not watch:
            raise
        say("Stopped watching.")


def _searches_are_over(folder: Place) -> bool:
    """Whether every search has used up its budget."""
    from orchestrator.results_tools.study_status import study_status

    total = study_status(folder).total
    return int(str(total["trials"])) >= int(str(total["planned"]))


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

"""``podium export``: the results of a study for other tools."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from podium.arguments.study_argument import OfStudy
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place
from podium.terminal.printing import say

command = typer.Typer(
    help="Write the results of a study for other tools. Podium reads none of it back.",
    no_args_is_help=True,
)

_Folder = Annotated[Path, typer.Option("--output", metavar="FOLDER", help="The folder to write.")]


@command.command()
def optuna(
    *,
    study: OfStudy,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The journal to write.")],
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code",
            help="Run modules that the study names, and copies of its losses' files, to know"
            " the losses' spaces.",
        ),
    ] = False,
) -> None:
    """Write searches and their trials as a new journal of Optuna, for optuna-dashboard.

    Example: podium export optuna STUDY --output journal.log
    """
    from podium.optuna_journal import write_searches
    from podium.orchestrator.results.records.store_paths import StudyPaths
    from podium.orchestrator.run.study_code import keep_recorded_files
    from podium.trainables.importable_code import importing_nothing

    folder = study.folder
    if output.is_dir():
        raise PodiumError(f"--output must be a file; {output} is a folder")
    _refuse_inside(folder, output)

    if trust_code:
        keep_recorded_files(StudyPaths(folder))
    with nullcontext() if trust_code else importing_nothing(folder):
        num_trials = write_searches(folder, output)
    say(f"{output}: {num_trials} trials")
    say(f"Next: optuna-dashboard {output}")


@command.command()
def tensorboard(study: OfStudy, output: _Folder) -> None:
    """Write a run of TensorBoard for every trial: scores by epoch, and hyperparameters.

    Each call adds new runs to the folder, which may be open elsewhere meanwhile. To watch trials
    while they run: podium run STUDY --log tensorboard
    """
    from podium.live.trial_logs import write_stored
    from podium.orchestrator.results.trial_files.reader import Reader

    folder = _source_of_folder(study, output)

    num_new = write_stored(Reader(folder), output)
    say(f"{output}: {num_new} new runs")
    say(f"Next: tensorboard --logdir {output}")


@command.command()
def tables(
    *,
    study: OfStudy,
    output: _Folder,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of Parquet.")] = False,
) -> None:
    """Write the long tables as Parquet or CSV files, all of them again with each call."""
    from podium.analysis.scores.flat_tables import write_tables
    from podium.orchestrator.results.trial_files.reader import Reader

    folder = _source_of_folder(study, output)
    files = write_tables(Reader(folder), output, "csv" if as_csv else "parquet")
    say(f"Wrote {', '.join(file.name for file in files)} to {output}.")


def _source_of_folder(study: OfStudy, output: Path) -> Place:
    """The results folder of a study, ``output`` being a folder that may be written."""
    folder = study.folder
    if output.exists() and not output.is_dir():
        raise PodiumError(f"--output must be a folder; {output} is a file")
    _refuse_inside(folder, output)
    return folder


def _refuse_inside(folder: Place, output: Path) -> None:
    if isinstance(folder, Path) and output.resolve().is_relative_to(folder.resolve()):
        # A reader of all Parquet files of a results folder would count every row twice.
        raise PodiumError(
            f"what is derived must not lie among the results in {folder}; got {output}"
        )

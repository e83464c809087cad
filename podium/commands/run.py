"""``podium run STUDY``: start a study, or continue it where it stopped."""

import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from podium.study_argument import Overrides, StorageFolder

if TYPE_CHECKING:
    from orchestrator.director import StudyDirector
    from orchestrator.executors.base import Executor
    from orchestrator.study import ResourceSettings, SearchSettings

__all__ = ["command"]

_DONE, _SOME_FAILED, _INTERRUPTED = 0, 1, 3


def command(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A study file (YAML).")],
    storage: StorageFolder = None,
    overrides: Overrides = None,
    address: Annotated[
        str | None,
        typer.Option(help="Join a Ray cluster (`auto` finds it); default: one of its own."),
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="One trial at a time in this process, without Ray.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Do not write report.html at the end.")
    ] = False,
) -> int:
    """Start a study, or continue it where it stopped.

    What is done stays done: give the same command again after a crash, a kill or Ctrl-C. Results
    go to STORAGE/STUDY-NAME; the report is written there at the end.
    """
    from orchestrator.results.errors import PodiumError, StoreError
    from orchestrator.results.files import check_writable
    from orchestrator.results.paths import StudyPaths
    from orchestrator.study_yaml import load_study

    resolved = load_study(study, overrides or ())
    try:
        paths = StudyPaths.in_storage(storage or resolved.storage, resolved.name)
        check_writable(paths.folder)
    except StoreError as error:  # before anything runs, a wrong place is a wrong input
        raise PodiumError(f"results cannot go where they should: {error}") from error

    from orchestrator.run import run_study

    end = run_study(
        resolved,
        paths,
        start_executor=_executor(local, address, resolved.resources, resolved.search),
        watch=_watched_and_stoppable,
        say=lambda line: typer.echo(line, err=True),
        trains_here=address is None,
    )
    if end.interrupted:
        again = _same_command(study, storage, overrides, address, local)
        typer.echo(f"Stopped. To continue: {again}", err=True)
        return _INTERRUPTED
    if not no_report:
        from podium.commands.report import write_study_report

        typer.echo(f"Report: {write_study_report(paths.folder)}")
    if end.progress.failed:
        from analysis.wording import counted

        for failure in end.progress.failures:
            typer.echo(f"failed: {failure}", err=True)
        count = counted(end.progress.failed, "trial")
        typer.echo(f"{count} failed: podium trials {paths.folder} --failed", err=True)
        return _SOME_FAILED
    return _DONE


def _executor(
    local: bool, address: str | None, resources: "ResourceSettings", search: "SearchSettings"
) -> "Callable[[], Executor]":
    """A function that starts the executor: Ray costs seconds and is loaded only when needed."""

    def start() -> "Executor":
        if local:
            _note_missing_gpu(resources)
            from orchestrator.executors.in_process import InProcessExecutor

            return InProcessExecutor()
        from orchestrator.executors.ray_tune import RayTuneExecutor

        where = "Starting Ray ..." if address is None else f"Joining Ray at {address} ..."
        typer.echo(where, err=True)
        return RayTuneExecutor(resources, address, search.max_concurrent)

    return start


def _note_missing_gpu(resources: "ResourceSettings") -> None:
    import torch

    if resources.gpus_per_trial and not torch.cuda.is_available():
        typer.echo("No GPU is visible here, so --local trains on the CPU.", err=True)


@contextmanager
def _watched_and_stoppable(director: "StudyDirector") -> Iterator[None]:
    """Show progress; the first Ctrl-C or SIGTERM stops cleanly, a second Ctrl-C at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if director.is_stopping and number == signal.SIGINT:
            raise KeyboardInterrupt
        director.stop()

    from podium.watch import watching

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with watching(director.progress):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _same_command(
    study: Path,
    storage: Path | None,
    overrides: list[str] | None,
    address: str | None,
    local: bool,
) -> str:
    words = ["podium", "run", str(study)]
    words += ["--local"] if local else []
    words += ["--storage", str(storage)] if storage else []
    words += ["--address", address] if address else []
    for override in overrides or ():
        words += ["--set", override]
    return shlex.join(words)

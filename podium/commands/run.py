"""``podium run STUDY``: start a study, or continue it where it stopped."""

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.redaction import redacted
from orchestrator.results.storage.printable_text import one_line
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import (
    Overrides,
    StorageFolder,
    StudyPath,
    results_folder,
    study_file,
)
from podium.errors import PodiumError
from podium.stop_signals import Stopped, StopSignals
from podium.terminal.printing import say

if TYPE_CHECKING:
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.storage.locations import Place
    from orchestrator.results.trial_files.reader import Reader
    from orchestrator.scheduling.executor_interface import Executor
    from orchestrator.scheduling.study_scheduler import StudyScheduler
    from orchestrator.study.study import Study

_DONE, _SOME_FAILED, _INTERRUPTED = 0, 1, 3


def command(
    study: StudyPath,
    causes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CAUSE]...",
            help="With --retry-failed: retry only what failed for one of these causes.",
            show_default=False,
        ),
    ] = None,
    storage: StorageFolder = None,
    overrides: Overrides = None,
    address: Annotated[
        str | None,
        typer.Option(help="Join a Ray cluster (`auto` finds it); default: one of its own."),
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="One trial at a time in this process, without Ray.")
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Train failed trials again from scratch, once what they failed for is fixed.",
        ),
    ] = False,
    no_report: Annotated[
        bool,
        typer.Option(
            "--no-report", help="Do not say who leads, nor write report.html, at the end."
        ),
    ] = False,
) -> int:
    """Start a study, or continue it where it stopped; a results folder continues as it is.

    Completed trials are kept: give the same command again after a crash, a kill or Ctrl-C. Results
    go to STORAGE/STUDY-NAME. At the end it says who leads and how sure that is, and writes the
    report there. Ctrl-C, SIGTERM and SIGUSR1 stop it cleanly, with exit code 3.

    A trial that failed stays failed until --retry-failed: then it is trained again under its id,
    its failure stays on record, and trials that succeeded are not touched.
    """
    call = _Call(
        study=study,
        causes=causes or (),
        storage=storage,
        overrides=overrides or (),
        address=address,
        local=local,
        retry_failed=retry_failed,
        no_report=no_report,
    )
    call.check()
    try:
        with StopSignals() as signals:
            return _run(call, signals)
    except Stopped:
        say(f"Stopped. To continue: {call}", err=True)
        return _INTERRUPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """The options as they were given; as text, the same command again."""

    study: "Place"
    causes: Sequence[str]
    storage: "Place | None"
    overrides: Sequence[str]
    address: str | None
    local: bool
    retry_failed: bool
    no_report: bool

    def check(self) -> None:
        if self.causes and not self.retry_failed:
            raise PodiumError(
                f"podium run takes one study, and causes of failures with --retry-failed; got"
                f" {self.causes[0]!r} beside the study"
            )
        if self.local and self.address is not None:
            raise PodiumError(
                f"--local trains in this process, --address {self.address} in a cluster: give one"
                " of them"
            )

    def __str__(self) -> str:
        words = ["podium", "run", str(self.study)]
        words += ["--retry-failed", *self.causes] if self.retry_failed else []
        words += ["--local"] if self.local else []
        words += ["--storage", str(self.storage)] if self.storage else []
        words += ["--address", self.address] if self.address else []
        for override in self.overrides:
            words += ["--set", override]
        words += ["--no-report"] if self.no_report else []
        return redacted(shlex.join(words))


def _run(call: _Call, signals: StopSignals) -> int:
    from orchestrator.results.storage.files import check_writable

    resolved, paths = _study_of(call)
    check_writable(paths.folder)

    from orchestrator.planning.gpu_packing import packing_advice
    from orchestrator.results.trial_files.reader import Reader
    from orchestrator.run.run_study import Console, run_study

    started = datetime.now(UTC)
    end = run_study(
        resolved,
        paths,
        _executor(call, resolved, paths),
        Console(
            say=lambda line: say(line, err=True),
            watch=_watched,
            stoppable=lambda scheduler: signals.stopping(scheduler.stop),
        ),
        trains_here=call.address is None,
        retried_causes=list(call.causes) if call.retry_failed else None,  # empty: all
    )
    _remember_costs(resolved, Reader(paths.folder), started)
    if end.progress.budget:
        say(f"Spent: {', '.join(map(str, end.progress.budget))}", err=True)
    if end.out_of_budget is not None:
        say(end.out_of_budget, err=True)
        return _INTERRUPTED
    if end.interrupted:
        raise Stopped
    if not call.no_report:
        _answer(paths)
    for advice in packing_advice(resolved, Reader(paths.folder)):
        say(advice, err=True)
    if end.progress.failed:
        from analysis.wording import counted

        for failure in end.progress.failures:
            say(f"failed: {one_line(failure)}", err=True)
        count = counted(end.progress.failed, "trial")
        say(f"{count} failed: podium trials {paths.folder} --failed", err=True)
        say("Once the cause is fixed, the same command with --retry-failed retries them", err=True)
        return _SOME_FAILED
    return _DONE


def _study_of(call: _Call) -> "tuple[Study, StudyPaths]":
    """The study of a file, or the one whose results are in a folder, and its results folder.

    Raises:
        PodiumError: there is no such file or folder, or a results folder came with options that
            change it.
        StudyError: the study file is wrong.
    """
    from orchestrator.results.records.store_paths import StudyPaths

    file = study_file(or_shipped(call.study))
    if file is None:
        from orchestrator.results.trial_files.reader import Reader
        from orchestrator.study.resolved_study import study_from_resolved

        if call.overrides:
            raise PodiumError(
                f"--set goes with a study file; {call.study} is a results folder, whose study"
                " continues as it is"
            )
        folder = results_folder(call.study, call.storage)
        return study_from_resolved(Reader(folder).study()), StudyPaths(folder)
    from orchestrator.study_validation.load_study import load_study

    resolved = load_study(file, call.overrides)
    return resolved, StudyPaths.in_storage(call.storage or resolved.storage, resolved.name)


def _answer(paths: "StudyPaths") -> None:
    """Say who leads, and where the report is, which says the same of the same results."""
    from analysis.report.verdict import answer_headline
    from analysis.study_results.study_results import read_results
    from podium.commands.report import write_study_report
    from podium.terminal.leaders_text import leaders_text

    results = read_results(paths.folder)
    score = results.ranked_by.label
    say(leaders_text(results.tournament, answer_headline(results), score=score))
    say(f"\nReport: {write_study_report(results)}")


def _remember_costs(study: "Study", reader: "Reader", started: datetime) -> None:
    """Keep what images cost this run, from which `podium plan` estimates hours of other studies.

    What goes wrong is no error of the run: its results are stored.
    """
    from orchestrator.planning.cost_tables import add_own_costs
    from orchestrator.planning.measured_costs import measured_costs

    try:
        add_own_costs(measured_costs(study, reader, started))
    except (OSError, PodiumError) as error:
        say(f"note: what images cost was not kept for plans: {one_line(str(error))}", err=True)


def _executor(call: _Call, study: "Study", paths: "StudyPaths") -> "Callable[[], Executor]":
    """A function that starts the executor: Ray costs seconds and is loaded only when needed."""

    def start() -> "Executor":
        if call.local:
            _note_missing_gpu(study)
            from orchestrator.executors.in_process import InProcessExecutor

            return InProcessExecutor()
        from orchestrator.executors.ray_tune import RayTuneExecutor
        from orchestrator.study.resource_demand import most_demand

        address = call.address
        say("Starting Ray ..." if address is None else f"Joining Ray at {address} ...", err=True)
        return RayTuneExecutor(
            most_demand(study),
            address,
            study.search.max_concurrent,
            paths=replace(paths, folder=paths.folder.absolute()),  # workers run elsewhere
        )

    return start


def _note_missing_gpu(study: "Study") -> None:
    import torch

    from orchestrator.study.resource_demand import most_demand

    if most_demand(study).gpus and not torch.cuda.is_available():
        say("No GPU is visible here, so --local trains on the CPU.", err=True)


def _watched(scheduler: "StudyScheduler") -> AbstractContextManager[None]:
    from podium.terminal.live_progress import watching

    return watching(scheduler.progress)

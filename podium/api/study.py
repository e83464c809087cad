"""Studies: loaded, planned, and run. What the command line does with them it does through this."""

import logging
import os
import textwrap
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from podium.analysis.typed_tables.table_options import conditions
from podium.api.answer import Answer
from podium.arguments.shipped_files import or_shipped
from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import check_writable, exists
from podium.orchestrator.results.storage.locations import Place, RemotePath, parse_place
from podium.orchestrator.results.storage.printable_text import one_line
from podium.orchestrator.study.study import Study as ResolvedStudy
from podium.stop_signals import Interrupted, Stopped, StopSignals
from podium.terminal.fitting_table import terminal_width
from podium.terminal.printing import say

if TYPE_CHECKING:
    from podium.api.results import Results
    from podium.orchestrator.run.run_study import Console, RunEnd
    from podium.orchestrator.scheduling.executor_interface import Executor
    from podium.orchestrator.scheduling.study_events import Event
    from podium.orchestrator.scheduling.study_scheduler import StudyScheduler

_log = logging.getLogger("podium.run")
_LOGGERS = tuple(map(logging.getLogger, ("podium", "orchestrator")))


def load(
    source: str | os.PathLike[str] | RemotePath | Mapping[str, object] | None = None,
    /,
    *,
    storage: str | os.PathLike[str] | RemotePath | None = None,
    overrides: Sequence[str] | Mapping[str, object] = (),
    **keys: object,
) -> "Study":
    """Load a study; nothing is trained, nor written.

    ``podium.load(study="letters", losses=["contrastive", "proxy_anchor"])`` is the study of a file
    with these keys. Relative paths begin at the folder of a study file; those of a mapping, of
    keyword arguments and of overrides begin at the current folder.

    Args:
        source: a study file, the name of a study that podium ships, such as ``quickstart``, a
            results folder or its URI, or a mapping of what a study file holds. None: the keyword
            arguments are that mapping.
        storage: folder or URI in which the results folder is, instead of the study's ``storage``.
        overrides: texts like ``search.trials=8``, whose values are YAML, or a mapping such as
            ``{"search.trials": 8}``; not with a results folder, whose study stays as it is.
        **keys: the keys of a study file, as plain values.

    Raises:
        StudyError: the study is wrong. Each problem names its place: file and line, or the key.
        PodiumError: there is no such file or folder, or the arguments do not go together.
        StoreError: a URI is malformed or holds credentials.
    """
    if (source is None) == (not keys):
        raise PodiumError(
            "podium.load takes a file, a folder, a name or a mapping, or else the keys of a study"
            " as keyword arguments; to change keys of a study file, give overrides={...}"
        )
    given: Place | Mapping[str, object]
    given = source if isinstance(source, Mapping) else keys if source is None else _place(source)
    stored_in = None if storage is None else _place(storage)
    if not isinstance(given, Mapping):
        given = or_shipped(given)
        if isinstance(given, RemotePath) or given.is_dir():
            return _of_results(given, stored_in, overrides)
    from podium.orchestrator.study_validation.load_study import load_study

    resolved = load_study(given, overrides)
    paths = StudyPaths.in_storage(stored_in or resolved.storage, resolved.name)
    return Study(resolved=resolved, folder=paths.folder)


def _place(given: str | os.PathLike[str] | RemotePath) -> Place:
    return parse_place(given if isinstance(given, RemotePath | Path) else os.fspath(given))


def _of_results(
    folder: Place, storage: Place | None, overrides: Sequence[str] | Mapping[str, object]
) -> "Study":
    if storage is not None or overrides:
        raise PodiumError(
            "storage and overrides (--set) go with a study file;"
            f" {folder} is a results folder, whose study continues as it is"
        )
    from podium.orchestrator.results.records.study_snapshot import started_study
    from podium.orchestrator.study.resolved_study import study_from_resolved

    return Study(resolved=study_from_resolved(started_study(StudyPaths(folder))), folder=folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study and its results folder, which need not exist yet. Made by `podium.load`.

    Attributes:
        resolved: everything that the study file says, every default filled in.
        folder: its results folder: a path, or the place in a remote store.
    """

    resolved: ResolvedStudy
    folder: Place

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.resolved.name

    def __repr__(self) -> str:
        return f"Study({self.name!r}, folder={str(self.folder)!r})"

    def plan(
        self,
        *,
        difference: float = 1.0,
        assume: Sequence[str] | Mapping[str, object] = (),
        full: bool = False,
    ) -> Answer:
        """Count what the study will do, and compute what it can show; nothing is stored.

        As ``podium plan`` does. Hours are estimated by the study's own results, by earlier runs on
        this machine, or by figures that podium ships.

        Args:
            difference: difference of Recall@1 that should be found, in points, above 0 and below
                100.
            assume: what is assumed of scores, such as ``{"spread": 4}`` or ``["spread=4"]``.
            full: whether the text has all details: splits, power, training, fairness.

        Returns:
            The plan. Its frame has one row per search.

        Raises:
            PodiumError: an assumption or the difference is out of range, or results cannot be
                read.
        """
        from podium.orchestrator.planning.this_machine import machine_notes
        from podium.plan.make_plan import plan_record, planned_counts, refusal_of
        from podium.plan.plan_text import opening_lines, plan_text, search_rows
        from podium.plan.statistical_power import assumptions_from, study_power

        paths = StudyPaths(self.folder)
        planned = planned_counts(self.resolved, paths)
        power = study_power(planned, assumptions_from(conditions(assume)), difference)
        refusal = refusal_of(self.resolved, paths)
        machine = tuple(machine_notes(self.resolved, self.folder))
        return Answer(
            headline=next(opening_lines(planned)),
            text=plan_text(planned, power, refusal, machine, full=full),
            record=plan_record(planned, power, refusal, machine),
            rows=search_rows(planned),
        )

    def run(
        self,
        *,
        local: bool = False,
        address: str | None = None,
        retry_failed: bool | Collection[str] = False,
        on_event: "Callable[[Event], object] | None" = None,
        progress: bool = True,
        log: Sequence[str] | None = None,
    ) -> "Results":
        """Start the study, or continue it where it stopped.

        Completed trials are kept, so the same call continues after a crash, a kill or an
        interrupt. Ctrl-C, the interrupt of a notebook, SIGTERM and SIGUSR1 stop it cleanly where
        this is called in the main thread. A study whose budget is used up ends before all its
        trials are done, and says so.

        Args:
            local: whether to train one trial at a time in this process, without Ray.
            address: Ray cluster to join (``auto`` finds it); None starts one on this machine.
            retry_failed: whether to train failed trials again from scratch, or the causes of the
                failures that are retried.
            on_event: is called in this thread with everything that happens: see `podium.Event`.
                An error that it raises stops the run, and is raised here.
            progress: whether to show messages and how far the study is, in a terminal or in a
                notebook; otherwise there are warnings alone, such as what failed.
            log: tools that get every trial as a run of theirs while it runs: ``tensorboard`` (in
                ``runs/STUDY``), ``wandb``, ``mlflow``. One that fails costs a warning.
                None: those of the study.

        Returns:
            The results.

        Raises:
            Interrupted: the run was stopped, cleanly; a `KeyboardInterrupt`.
            PodiumError: the run is refused: its results are another study's, data or weights are
                not there, options do not go together.
            StoreError: the results cannot be written, or another run owns them.
        """
        run_to_end(
            self,
            local=local,
            address=address,
            retry_failed=retry_failed,
            on_event=on_event,
            progress=progress,
            log=log,
        )
        return self.results()

    def results(self) -> "Results":
        """Open the results of the study, finished or running.

        Raises:
            PodiumError: the study was never started.
        """
        if not exists(StudyPaths(self.folder).store):
            raise PodiumError(f"{self.name} was never started: {self.folder} holds no results")
        from podium.api.results import Results

        return Results(self.folder)


def run_to_end(
    study: Study,
    *,
    local: bool = False,
    address: str | None = None,
    retry_failed: bool | Collection[str] = False,
    on_event: "Callable[[Event], object] | None" = None,
    progress: bool = True,
    log: Sequence[str] | None = None,
) -> "RunEnd":
    """Run a study as `Study.run` does, and return how the run ended."""
    if local and address is not None:
        raise PodiumError(
            f"local trains in this process, address {address} in a cluster: give one of them"
        )
    causes = None if retry_failed is False else [] if retry_failed is True else retry_failed
    resolved, paths, started = study.resolved, StudyPaths(study.folder), datetime.now(UTC)
    end: RunEnd | None = None
    handles_signals = threading.current_thread() is threading.main_thread()  # Python's rule
    with _messages_shown(logging.INFO if progress else logging.WARNING):
        try:
            with (
                _logged(resolved.log if log is None else log, resolved.name, on_event) as tell,
                StopSignals() if handles_signals else nullcontext() as signals,
            ):
                check_writable(study.folder)

                from podium.orchestrator.run.run_study import run_study

                end = run_study(
                    resolved,
                    paths,
                    _local_executor(resolved) if local else _ray(resolved, paths, address),
                    _console(signals, tell, progress=progress),
                    trains_here=address is None,
                    retried_causes=causes,
                )
                _remember_seconds(resolved, study.folder, started)
                _say_how_it_ended(end, study.folder)
        except Stopped:
            end = None
    if end is None or (end.interrupted and end.out_of_budget is None):
        raise Interrupted("the run was stopped cleanly; the same call continues")
    return end


class _Shown(logging.Handler):
    """Prints messages as wide as the terminal, without dates and names."""

    def emit(self, record: logging.LogRecord) -> None:
        lines = record.getMessage().split("\n")
        fit = partial(textwrap.fill, break_on_hyphens=False, break_long_words=False)  # paths stay
        say("\n".join(fit(line, terminal_width()) for line in lines), err=True)


@contextmanager
def _messages_shown(level: int) -> Iterator[None]:
    """Print what podium logs at ``level`` and above until the block ends."""
    handler = _Shown(level)
    before = [logger.level for logger in _LOGGERS]
    for logger in _LOGGERS:
        logger.addHandler(handler)
        logger.setLevel(min(level, logger.level or level))
    try:
        yield
    finally:
        for logger, own in zip(_LOGGERS, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(own)


@contextmanager
def _logged(
    tools: Sequence[str], study: str, on_event: "Callable[[Event], object] | None"
) -> "Iterator[Callable[[Event], object] | None]":
    """What takes the events of a run: the caller's function, and the tools that log trials."""
    if not tools:
        yield on_event
        return
    from podium.live.trial_logs import live_logs

    with live_logs(tools, study, _log.warning) as log:

        def tell(event: "Event") -> None:
            log(event)
            if on_event is not None:
                on_event(event)

        yield tell


def _say_how_it_ended(end: "RunEnd", folder: Place) -> None:
    if end.progress.budget:
        _log.info("Spent: %s", ", ".join(map(str, end.progress.budget)))
    if end.out_of_budget is not None:
        _log.warning(end.out_of_budget)
    if end.progress.failed and not end.interrupted:
        from podium.analysis.wording import counted

        for failure in end.progress.failures:
            _log.warning("failed: %s", one_line(failure))
        count = counted(end.progress.failed, "trial")
        _log.warning("%s failed: podium trials %s --failed", count, folder)
        _log.warning(
            "Once the cause is fixed, podium run with --retry-failed retries them (in Python:"
            " retry_failed=True); a loss whose code changed needs a new study"
        )


def _console(
    signals: StopSignals | None, on_event: "Callable[[Event], object] | None", *, progress: bool
) -> "Console":
    from podium.orchestrator.run.run_study import Console

    def watch(scheduler: "StudyScheduler") -> AbstractContextManager[None]:
        from podium.terminal.live_progress import watching

        return watching(scheduler.progress)

    def stoppable(scheduler: "StudyScheduler") -> AbstractContextManager[None]:
        return nullcontext() if signals is None else signals.stopping(scheduler.stop)

    return Console(
        say=_log.info,
        watch=watch if progress else nullcontext,
        stoppable=stoppable,
        on_event=on_event,
    )


def _local_executor(study: ResolvedStudy) -> "Callable[[], Executor]":
    def start() -> "Executor":
        import torch

        from podium.orchestrator.executors.in_process import InProcessExecutor
        from podium.orchestrator.study.resource_demand import demand_of

        if demand_of(study).gpus and not torch.cuda.is_available():
            _log.info("No GPU is visible here, so trials of this process train on the CPU.")
        return InProcessExecutor()

    return start


def _ray(study: ResolvedStudy, paths: StudyPaths, address: str | None) -> "Callable[[], Executor]":
    """A function that starts the executor: Ray costs seconds and is loaded only when needed."""

    def start() -> "Executor":
        from podium.orchestrator.executors.ray_environment import refuse_other_versions

        refuse_other_versions()
        from podium.orchestrator.executors.ray_tune import RayTuneExecutor
        from podium.orchestrator.study.resource_demand import demand_of

        _log.info("Starting Ray ..." if address is None else f"Joining Ray at {address} ...")
        return RayTuneExecutor(
            demand_of(study),
            address,
            study.search.max_concurrent,
            paths=replace(paths, folder=paths.folder.absolute()),  # workers run elsewhere
        )

    return start


def _remember_seconds(study: ResolvedStudy, folder: Place, started: datetime) -> None:
    """Keep what images took in this run, from which plans of other studies estimate hours.

    What goes wrong is no error of the run: its results are stored.
    """
    from podium.orchestrator.planning.image_seconds import add_to_own_table
    from podium.orchestrator.planning.measured_seconds import measured_seconds
    from podium.orchestrator.results.trial_files.reader import Reader

    try:
        add_to_own_table(measured_seconds(study, Reader(folder), started))
    except (OSError, PodiumError) as error:
        _log.info("note: what images took was not kept for plans: %s", one_line(str(error)))

"""``podium run STUDY``: start a study, or continue it where it stopped."""

import logging
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.redaction import redacted
from podium.arguments.study_argument import Overrides, StorageFolder, StudyPath
from podium.errors import PodiumError
from podium.stop_signals import Interrupted, Stopped, StopSignals
from podium.terminal.printing import say
from podium.terminal.run_messages import messages_shown

if TYPE_CHECKING:
    from orchestrator.results.storage.locations import Place
    from orchestrator.scheduling.study_events import Event

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
    part: Annotated[
        str,
        typer.Option(
            metavar="I/N",
            help="Run the I-th of N parts of the blocks; other parts may run at the same time.",
            show_default=False,
        ),
    ] = "1/1",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the result, warnings and errors alone.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Print what is decided, too: attempts, retries, what is pruned.",
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

    With --part several drivers, on one machine or many, run one study: part I/N has the I-th of
    its blocks (data set x backbone x dimension x image size) and every N-th after that.
    """
    call = _Call(
        study=study,
        causes=causes or (),
        storage=storage,
        overrides=overrides or (),
        address=address,
        local=local,
        retry_failed=retry_failed,
        part=part,
        quiet=quiet,
        verbose=verbose,
        no_report=no_report,
    )
    call.check()
    try:
        with StopSignals(), messages_shown(call.level):
            return _run(call)
    except (Stopped, Interrupted):
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
    part: str
    quiet: bool
    verbose: bool
    no_report: bool

    def check(self) -> None:
        if self.causes and not self.retry_failed:
            raise PodiumError(
                f"podium run takes one study, and causes of failures with --retry-failed; got"
                f" {self.causes[0]!r} beside the study"
            )
        if self.quiet and self.verbose:
            raise PodiumError("--quiet prints less and --verbose more: give one of them")

    @property
    def level(self) -> int:
        """The least level of what is printed."""
        return logging.WARNING if self.quiet else logging.DEBUG if self.verbose else logging.INFO

    def __str__(self) -> str:
        words = ["podium", "run", str(self.study)]
        words += ["--retry-failed", *self.causes] if self.retry_failed else []
        words += ["--local"] if self.local else []
        words += ["--storage", str(self.storage)] if self.storage else []
        words += ["--address", self.address] if self.address else []
        for override in self.overrides:
            words += ["--set", override]
        words += ["--part", self.part] if self.part != "1/1" else []
        words += ["--quiet"] if self.quiet else []
        words += ["--verbose"] if self.verbose else []
        words += ["--no-report"] if self.no_report else []
        return redacted(shlex.join(words))


def _run(call: _Call) -> int:
    from podium.api.study import load

    study = load(call.study, storage=call.storage, overrides=call.overrides)
    events: list[Event] = []
    study.run(
        local=call.local,
        address=call.address,
        retry_failed=call.causes or call.retry_failed,
        part=call.part,
        progress=not call.quiet,
        on_event=lambda event: events.append(event) if event.kind == "study ended" else None,
    )
    (end,) = events
    assert end.progress is not None, "the end of a study comes with its counts"
    if end.out_of_budget is not None:
        return _INTERRUPTED
    left = _left(call, study.folder)
    if left:
        say(left)
    elif not call.no_report:
        _answer(study.folder)
    return _SOME_FAILED if end.progress.failed else _DONE


def _left(call: _Call, folder: "Place") -> str:
    """What other parts of the study have to do yet; empty for nothing."""
    from orchestrator.results.records.runs import parse_part
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.run.study_parts import parts_left

    part = parse_part(call.part)
    return "" if part.is_whole else parts_left(StudyPaths(folder), part)


def _answer(folder: "Place") -> None:
    """Say who leads, and where the report is, which says the same of the same results."""
    from analysis.report.verdict import answer_headline
    from podium.api.report import PageOptions, write_study_report
    from podium.terminal.leaders_text import leaders_text

    results = PageOptions().read(folder)
    score = results.ranked_by.label
    say(leaders_text(results.tournament, answer_headline(results), score=score))
    say(f"\nReport: {write_study_report(results)}")

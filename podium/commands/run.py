"""``podium run STUDY``: start a study, or continue it where it stopped."""

from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.study_argument import Local, LogTools, OfStudy, Overrides
from podium.errors import PodiumError
from podium.stop_signals import INTERRUPTED
from podium.terminal.printing import filled, say

if TYPE_CHECKING:
    from podium.orchestrator.results.storage.locations import Place

_DONE, _SOME_FAILED = 0, 1


def command(
    *,
    study: OfStudy,
    causes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CAUSE]...",
            help="With --retry-failed: retry only what failed for one of these causes.",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    address: Annotated[
        str | None,
        typer.Option(help="Join a Ray cluster (`auto` finds it); default: one of its own."),
    ] = None,
    local: Local = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Train failed trials again from scratch, once what they failed for is fixed.",
        ),
    ] = False,
    log: LogTools = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the result, warnings and errors alone.")
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
    if causes and not retry_failed:
        raise PodiumError(
            f"podium run takes one study, and causes of failures with --retry-failed; got"
            f" {causes[0]!r} beside the study"
        )
    from podium.api.study import load, run_to_end

    loaded = load(study.study, storage=study.storage, overrides=overrides or ())
    end = run_to_end(
        loaded,
        local=local,
        address=address,
        retry_failed=causes or retry_failed,
        progress=not quiet,
        log=log or None,
    )
    if end.out_of_budget is not None:
        return INTERRUPTED
    if not no_report:
        _answer(loaded.folder)
    return _SOME_FAILED if end.progress.failed else _DONE


def _answer(folder: "Place") -> None:
    """Say who leads, and where the report is, which says the same of the same results."""
    from podium.analysis.report.verdict import answer_headline, decisive_notices, gain_sentences
    from podium.api.report import report_of_study, results_of
    from podium.arguments.report_targets import ReportTargets
    from podium.terminal.leaders_text import leaders_text

    results = results_of(folder)
    score = results.ranked_by.label
    say(leaders_text(results.tournament, answer_headline(results), score=score))
    for notice in (*gain_sentences(results), *decisive_notices(results)):
        say(f"\n{filled(notice)}")
    say(f"\nReport: {report_of_study(results).write(ReportTargets())}")

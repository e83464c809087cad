"""``podium control``: change how a study runs, while it runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.study_argument import OfStudy
from podium.terminal.printing import say

if TYPE_CHECKING:
    from podium.orchestrator.study.study import Control, Study

command = typer.Typer(
    help="""Change how a study runs: a run in progress applies it within seconds, later runs too.

    The changes are in control.yaml in the results folder, which may be edited, or deleted to undo
    them all. Each command prints what is changed.""",
    no_args_is_help=True,
)


@command.command()
def pause(study: OfStudy) -> None:
    """Start no other trial for now: running ones finish, and the run waits.

    Its hours of wall-clock time go on.
    """
    _change(study, lambda _, control: replace(control, is_paused=True))


@command.command()
def resume(study: OfStudy) -> None:
    """Start trials again after a pause."""
    _change(study, lambda _, control: replace(control, is_paused=False))


@command.command()
def cancel(
    *,
    study: OfStudy,
    searches: Annotated[
        list[str],
        typer.Argument(
            metavar="SEARCH...",
            help="Names of searches as podium status shows them, or their ids.",
        ),
    ],
    undo: Annotated[
        bool, typer.Option("--undo", help="Continue them from the next start of the study on.")
    ] = False,
) -> None:
    """Cancel searches: running trials finish, no others start, and there are no finals.

    A search that has started all its trials continues. A block that lacks the finals of a loss is
    left out of the ranking. Finished trials are kept; --undo and the same podium run finish the
    search.
    """
    from podium.analysis.wording import shown_names
    from podium.orchestrator.run.study_control import search_names, searches_named

    def cancelled(stored: "Study", control: "Control") -> "Control":
        shown = {it: name for name, it in shown_names(search_names(stored).values()).items()}
        named = searches_named(stored, [shown.get(it, it) for it in searches])
        left = control.cancelled - named if undo else control.cancelled | named
        return replace(control, cancelled=left)

    _change(study, cancelled)


@command.command()
def concurrency(
    *,
    study: OfStudy,
    trials: Annotated[
        int, typer.Argument(metavar="N", help="Trials at a time, for search.max_concurrent.")
    ],
) -> None:
    """Run so many trials at a time. With fewer, running ones finish before others start."""
    _change(study, lambda _, control: replace(control, max_concurrent=trials))


@command.command()
def hours(
    *,
    study: OfStudy,
    gpu: Annotated[
        float | None, typer.Option(help="In place of budget.gpu_hours.", metavar="H")
    ] = None,
    wall: Annotated[
        float | None, typer.Option(help="In place of budget.wall_hours.", metavar="H")
    ] = None,
) -> None:
    """Change the hours that all runs together may take.

    With more hours, searches that have not ended continue, and those that ended for lack of hours
    resume at the next start.
    """
    given = {"gpu_hours": gpu, "wall_hours": wall}
    changed = {name: value for name, value in given.items() if value is not None}
    _change(study, lambda _, control: replace(control, hours={**control.hours, **changed}))


def _change(of: OfStudy, change: "Callable[[Study, Control], Control]") -> None:
    """Write what ``change`` makes of a study's control file, and say what is changed."""
    from podium.orchestrator.results.records.store_paths import StudyPaths
    from podium.orchestrator.results.trial_files.reader import Reader
    from podium.orchestrator.run.study_control import control_text, read_control, write_control
    from podium.orchestrator.study.resolved_study import study_from_resolved

    paths = StudyPaths(of.folder)
    stored = study_from_resolved(Reader(paths.folder).study())
    before = read_control(stored, paths)
    control = change(stored, before)
    if control != before:
        write_control(stored, paths, control)
    say(f"{paths.control}: {control_text(stored, control)}")

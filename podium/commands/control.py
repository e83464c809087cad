"""``podium control STUDY``: change how a study runs, while it runs."""

from typing import Annotated

import typer

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import say


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    max_concurrent: Annotated[
        int | None,
        typer.Option(help="Trials at a time, in place of search.max_concurrent.", metavar="N"),
    ] = None,
    gpu_hours: Annotated[
        float | None, typer.Option(help="In place of budget.gpu_hours.", metavar="H")
    ] = None,
    wall_hours: Annotated[
        float | None, typer.Option(help="In place of budget.wall_hours.", metavar="H")
    ] = None,
    pause: Annotated[
        bool | None,
        typer.Option("--pause/--resume", help="Start no other trial for now; or do again."),
    ] = None,
) -> None:
    """Change how a study runs: a run in progress applies it within seconds, later runs too.

    With fewer trials at a time, running trials finish before others start; so they do in a pause,
    in which the run waits and its hours of wall-clock time go on. Hours cover all runs
    together: with more hours, searches that have not ended continue, and those that ended for lack
    of hours resume at the next start. The changes are in control.yaml in the results folder, which
    may be edited, or deleted to undo them all. Without options, what is changed is printed.
    podium cancel cancels a search.
    """
    from dataclasses import replace

    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.trial_files.reader import Reader
    from orchestrator.run.study_control import control_text, read_control, write_control
    from orchestrator.study.resolved_study import study_from_resolved

    paths = StudyPaths(results_folder(study, storage))
    stored = study_from_resolved(Reader(paths.folder).study())
    control = read_control(stored, paths)
    given = {"gpu_hours": gpu_hours, "wall_hours": wall_hours}
    hours = {name: value for name, value in given.items() if value is not None}
    if max_concurrent is not None or hours or pause is not None:
        control = replace(
            control,
            max_concurrent=control.max_concurrent if max_concurrent is None else max_concurrent,
            hours={**control.hours, **hours},
            is_paused=control.is_paused if pause is None else pause,
        )
        write_control(stored, paths, control)
    say(f"{paths.control}: {control_text(stored, control)}")

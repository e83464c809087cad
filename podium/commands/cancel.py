"""``podium cancel STUDY SEARCH``: have a search start no other trial, and have no finals."""

from typing import Annotated

import typer

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import say


def command(
    study: StudyPath,
    searches: Annotated[
        list[str],
        typer.Argument(
            metavar="SEARCH...",
            help="Names of searches as podium status shows them, or their ids.",
        ),
    ],
    storage: StorageFolder = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Continue them from the next start of the study on.")
    ] = False,
) -> None:
    """Cancel searches: running trials finish, no others start, and there are no finals.

    A run in progress applies it within seconds, otherwise the next run does. A search that has
    started all its trials continues. A block that lacks the finals of a loss is left out of the
    ranking. Finished trials are kept; --undo and the same podium run finish the search.
    """
    from dataclasses import replace

    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.trial_files.reader import Reader
    from orchestrator.run.study_control import (
        control_text,
        read_control,
        searches_named,
        write_control,
    )
    from orchestrator.study.resolved_study import study_from_resolved

    paths = StudyPaths(results_folder(study, storage))
    stored = study_from_resolved(Reader(paths.folder).study())
    named = searches_named(stored, searches)
    control = read_control(stored, paths)
    cancelled = control.cancelled - named if undo else control.cancelled | named
    control = replace(control, cancelled=cancelled)
    write_control(stored, paths, control)
    say(f"{paths.control}: {control_text(stored, control)}")

"""``podium archive STUDY``: one file that holds a study."""

from pathlib import Path
from typing import Annotated

import typer

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.arguments.trial_argument import refuse_existing
from podium.terminal.printing import Yes, bytes_text, confirmed, say


def command(
    study: StudyPath,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The archive, ending in .tar.gz; default: STUDY.tar.gz here.",
        ),
    ] = None,
    remove: Annotated[
        bool,
        typer.Option("--remove", help="Remove the study once its archive was verified."),
    ] = False,
    storage: StorageFolder = None,
    yes: Yes = False,
) -> None:
    """Pack the results folder of a study into one file, and verify every byte of it.

    `tar xf FILE` makes the folder again, which every command then reads as before. Equal results
    give equal files. With --remove the study is removed, after a question, once the archive was
    read back and every file in it has the SHA-256 of the original.
    """
    from orchestrator.results.locks.study_lock import StudyLock
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.records.study_snapshot import study_name
    from orchestrator.results_tools.archive_study import archive_study, check_archive_name
    from orchestrator.results_tools.remove_study import check_removable, remove_study

    folder = results_folder(study, storage)
    file = Path(f"{folder.name}.tar.gz") if output is None else output
    study_name(StudyPaths(folder))  # raises where there is no study, before a lock is written
    check_archive_name(file, folder)
    refuse_existing(file)
    if remove:
        check_removable(folder)
    with StudyLock(StudyPaths(folder), _report):
        archive = archive_study(folder, file)
    say(f"{archive.num_files} files of {folder} in {file} ({bytes_text(archive.num_bytes)})")
    say(f"sha256 {archive.sha256}")
    if remove and confirmed(f"The archive is verified. Remove {folder} for good?", yes=yes):
        remove_study(folder, _report)
        say(f"removed {folder}")


def _report(line: str) -> None:
    say(line, err=True)

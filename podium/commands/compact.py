"""``podium compact STUDY``: many trial files into a few."""

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import say


def command(study: StudyPath, storage: StorageFolder = None) -> None:
    """Gather the trial files of a study into a few large ones. Safe to interrupt and repeat."""
    from analysis.wording import counted
    from orchestrator.results.locks.study_lock import StudyLock
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.records.study_snapshot import study_name
    from orchestrator.results.trial_files.compaction import compact

    paths = StudyPaths(results_folder(study, storage))
    study_name(paths)  # raises where there is no study, before a lock is written there
    with StudyLock(paths, lambda line: say(line, err=True)):
        moved = compact(paths)
    say(f"{counted(moved, 'trial file')} gathered in {paths.segments}")

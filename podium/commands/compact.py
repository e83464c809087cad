"""``podium compact STUDY``: many trial files into a few."""

from podium.printing import say
from podium.study_argument import StorageFolder, StudyPath, results_folder

__all__ = ["command"]


def command(study: StudyPath, storage: StorageFolder = None) -> None:
    """Gather the trial files of a study into a few large ones. Safe to interrupt and repeat."""
    from analysis.wording import counted
    from orchestrator.results.compact import compact
    from orchestrator.results.frozen import study_name
    from orchestrator.results.lock import StudyLock
    from orchestrator.results.paths import StudyPaths

    paths = StudyPaths(results_folder(study, storage))
    study_name(paths)  # raises where there is no study, before a lock is written there
    with StudyLock(paths, lambda line: say(line, err=True)):
        moved = compact(paths)
    say(f"{counted(moved, 'trial file')} gathered in {paths.compacted}")

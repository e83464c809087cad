"""What a results folder holds, and its study file changed by hand."""

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)


def bytes_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def change_study(folder, change):
    path = StudyPaths(folder).study
    study = read_checksummed(path)
    change(study)
    write_checksummed(path, study)

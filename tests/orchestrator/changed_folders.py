"""What a results folder holds, and its study file changed by hand."""

import yaml

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.checksummed_text import text_with_checksum


def bytes_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def change_study(folder, change):
    path = StudyPaths(folder).study
    study = yaml.safe_load(path.read_text())
    change(study)
    path.write_bytes(text_with_checksum(yaml.safe_dump(study, sort_keys=False).encode()))

"""The STUDY argument that most commands take: a study file or a results folder."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.results.errors import PodiumError

__all__ = ["Overrides", "StorageFolder", "StudyPath", "results_folder"]

StudyPath = Annotated[
    Path, typer.Argument(metavar="STUDY", help="A study file (YAML) or a results folder.")
]
StorageFolder = Annotated[
    Path | None,
    typer.Option(
        "--storage", metavar="DIR", help="Where results go, instead of the study's `storage`."
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override one key, such as search.trials=8. Repeatable."
    ),
]


def results_folder(study: Path, storage: Path | None = None) -> Path:
    """Where the results of ``study`` are. The folder need not exist yet.

    Args:
        study: a study file, or a results folder, which is returned as it is.
        storage: replaces the ``storage`` of a study file; a results folder takes none.

    Raises:
        PodiumError: nothing is at ``study``, or a results folder came with a ``storage``.
        StudyError: the study file is wrong.
        StoreError: the storage is not a local folder.
    """
    if not study.exists():
        raise PodiumError(
            f"STUDY must be a study file or a results folder; got {study}, where nothing is"
        )
    if study.is_dir():
        if storage is not None:
            raise PodiumError(
                f"--storage goes with a study file; {study} is a results folder already"
            )
        return study
    from orchestrator.results.paths import StudyPaths
    from orchestrator.study_yaml import load_study

    loaded = load_study(study)
    return StudyPaths.in_storage(storage or loaded.storage, loaded.name).folder

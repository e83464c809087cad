"""The STUDY argument that most commands take: a study file or a results folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from podium.arguments.shipped_files import or_shipped
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place, RemotePath, parse_place

# Typer takes no union of types, and would make a path of a URI: `given_place` reads the text.
if TYPE_CHECKING:
    GivenPlace: TypeAlias = Place
else:
    GivenPlace = str


def given_place(text: str) -> Place:
    """Path or URI that an argument names, as the `parser` of arguments of type `GivenPlace`."""
    try:
        return parse_place(text)
    except PodiumError as error:
        raise typer.BadParameter(str(error)) from None


DEFAULT_STORAGE = Path("podium-results")
"""Where the results of studies are that say nothing else."""

_STUDY = typer.Argument(
    metavar="STUDY",
    parser=given_place,
    help="A study file (YAML), the name of a study that podium ships, or a results folder (or its"
    " URI, such as s3://bucket/study).",
)
OptionalStudyPath = Annotated[GivenPlace | None, _STUDY]
StorageFolder = Annotated[
    GivenPlace | None,
    typer.Option(
        "--storage",
        metavar="DIR",
        parser=given_place,
        help="Where results go, instead of the study's `storage`: a folder, or a URI.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override one key, such as search.trials=8. Repeatable."
    ),
]


ScoreOfStudy = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="METRIC",
        help="Compare by this stored test score: recall@4, nmi, f1, r_precision, map_at_r;"
        " default: the study's own.",
    ),
]
Local = Annotated[
    bool, typer.Option("--local", help="One trial at a time in this process, without Ray.")
]


LogTools = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="TOOL",
        help="Log every trial as a run of this tool, scores of each epoch while it runs:"
        " tensorboard (in runs/STUDY), wandb or mlflow; default: the study's `log`. Repeatable.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStudy:
    """A study, and where its results are."""

    study: Annotated[GivenPlace, _STUDY]
    storage: StorageFolder = None

    @property
    def folder(self) -> Place:
        """The results folder: see `results_folder`."""
        return results_folder(self.study, self.storage)


def results_folder(study: Place, storage: Place | None = None) -> Place:
    """Where the results of ``study`` are. The folder need not exist yet.

    Args:
        study: a study file, the name of one that podium ships, or a results folder, which is
            returned as it is.
        storage: folder in place of the study file's ``storage``; must be None with a results
            folder.

    Raises:
        PodiumError: nothing is at ``study``, or a results folder came with a ``storage``.
        StudyError: the study file is no YAML, or its name or storage is wrong; what else it says
            is not read, so no code that it names is needed.
        StoreError: the storage is a URI with credentials.
    """
    study = or_shipped(study)
    if isinstance(study, Path) and not study.exists():
        raise PodiumError(
            f"STUDY must be a study file or a results folder; got {study}, which does not exist"
        )
    if isinstance(study, RemotePath) or study.is_dir():
        if storage is not None:
            raise PodiumError(
                f"--storage goes with a study file; {study} is a results folder already"
            )
        return study
    from podium.orchestrator.results.records.store_paths import StudyPaths
    from podium.orchestrator.study_validation.load_study import study_place

    name, stored_in = study_place(study)
    return StudyPaths.in_storage(storage or stored_in, name).folder

"""``podium trial evaluate``: any metric of the test images, without training; or of a file."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from podium.arguments.study_argument import StorageFolder
from podium.arguments.trial_argument import (
    InStudy,
    StoredTrial,
    embeddings_by_fold,
    models_by_fold,
    stored_trial,
)
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_table, say
from trainables.settings.trial_settings import VERIFICATION_PAIRS, TrialSettings

if TYPE_CHECKING:
    from trainables.dataset_interface.dataset import Dataset
    from trainables.saved_models.embeddings_file import EmbeddingsFile
    from trainables.saved_models.stored_scores import AskedScores
    from trainables.trial_reports import Score

_Item = TypeVar("_Item")

_MAX_SEED = 2**32 - 1
_KS_OF_FILES = (1, 10, 100, 1000)
_COLUMNS = ("fold", "metric", "k", "value", "queries", "gallery")


def command(
    trial: Annotated[
        str,
        typer.Argument(
            metavar="TRIAL",
            help="As `podium trials` prints it, or how it starts; or a file of embeddings, .npy "
            "or .safetensors.",
        ),
    ],
    metric: Annotated[
        str | None,
        typer.Option(help="Metrics, with commas between; default: the one searches maximise."),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option("--k", help="The K of metrics that have one, with commas between."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Count queries without a positive as misses.")
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            help="Seed of clusters, matched galleries and folds of verification.",
            min=0,
            max=_MAX_SEED,
        ),
    ] = 0,
    gallery_classes: Annotated[
        int | None, typer.Option(help="Classes of the galleries of matched_recall.", min=1)
    ] = None,
    gallery_images: Annotated[
        int | None, typer.Option(help="Images of these galleries; default: all.", min=1)
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Labels of a .npy file of embeddings: .npy, a whole number a row."),
    ] = None,
    gallery: Annotated[
        list[Path] | None,
        typer.Option(help="File in which those of a file are searched; once for each part."),
    ] = None,
    gallery_labels: Annotated[
        list[Path] | None, typer.Option(help="Labels of each --gallery, in the same order.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that search the gallery, by Ray; default: this one.", min=1),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Ray cluster whose nodes search the gallery: auto, or HOST:PORT."),
    ] = None,
    study: InStudy = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compute any metric of the test images of a trial, for each fold and as the mean over folds.

    Takes the embeddings the trial left. If it left none, its weights embed the test images again,
    which needs the data set. The trial was tested already, so this reads nothing new.

    Given a file of embeddings instead, computes metrics of its rows, each a query against all
    others; with --gallery, exact Recall@K of its rows in those files, which are read in parts and
    need not fit into memory.
    """
    if gallery_images is not None and gallery_classes is None:
        raise PodiumError("--gallery-images goes with --gallery-classes")
    names = None if metric is None else _unique(name.strip() for name in metric.split(","))
    ks = None if k is None else _whole_numbers(k)
    from trainables.metrics.matched_recall import GallerySize
    from trainables.saved_models.stored_scores import AskedScores, known_metrics, stored_scores

    size = (
        GallerySize(num_classes=gallery_classes, num_images=gallery_images)
        if gallery_classes is not None
        else None
    )
    files = _Files(labels, gallery or [], gallery_labels or [], workers, address)
    if Path(trial).suffix:
        if study is not None or storage is not None:
            raise PodiumError("--study and --storage go with a trial, not with a file")
        asked = AskedScores(
            names=names or ("recall",),
            ks=ks or _KS_OF_FILES,
            strict=strict,
            seed=seed,
            matched_size=size,
        )
        of_file = [_row(0, score) for score in files.scores(Path(trial), asked)]
        print_table(of_file, columns=_COLUMNS[1:], as_json=as_json, as_csv=as_csv)
        return
    if files != _Files():
        raise PodiumError(
            "--labels, --gallery, --gallery-labels, --workers and --address go with a file of "
            f"embeddings, .npy or .safetensors, in place of the trial; got {trial}"
        )
    found = stored_trial(trial, study, storage)
    rows = [
        _row(file.fold, score)
        for file in _embeddings(found)
        for score in stored_scores(
            file,
            AskedScores(
                names=known_metrics(file)[:1] if names is None else names,
                ks=ks or _settings(found).ks,
                strict=strict,
                seed=seed,
                matched_size=size,
                has_pairs=VERIFICATION_PAIRS in _settings(found).dataset.options,
            ),
            dataset=lambda: _dataset(found),
        )
    ]
    print_table([*rows, *_means(rows)], columns=_COLUMNS, as_json=as_json, as_csv=as_csv)


@dataclass(frozen=True, slots=True)
class _Files:
    """What goes with a file of embeddings, and who searches."""

    labels: Path | None = None
    gallery: Sequence[Path] = field(default_factory=list)
    gallery_labels: Sequence[Path] = field(default_factory=list)
    workers: int | None = None
    address: str | None = None

    def scores(self, file: Path, asked: "AskedScores") -> "tuple[Score, ...]":
        """Scores of the rows of a file, among themselves or in the gallery.

        Raises:
            PodiumError: options do not go together, or a file is not what it must be.
        """
        from trainables.saved_models import gallery_search
        from trainables.saved_models.embedding_rows import open_rows

        if self.gallery_labels and len(self.gallery_labels) != len(self.gallery):
            raise PodiumError(
                "each --gallery needs its --gallery-labels, or none does; got "
                f"{len(self.gallery)} and {len(self.gallery_labels)}"
            )
        queries = open_rows(file, self.labels)
        if not self.gallery:
            if self.workers is not None or self.address is not None:
                raise PodiumError("--workers and --address go with --gallery")
            return gallery_search.scores_of_rows(queries, asked)
        labels: Sequence[Path | None] = self.gallery_labels or [None] * len(self.gallery)
        gallery = list(map(open_rows, self.gallery, labels))
        if self.workers is None and self.address is None:
            searcher = gallery_search.OwnSearcher(queries)
            return gallery_search.recall_in_gallery(queries, gallery, searcher, asked)
        from orchestrator.executors.ray_searcher import RaySearcher

        with RaySearcher(queries, self.workers, self.address) as workers:
            return gallery_search.recall_in_gallery(queries, gallery, workers, asked)


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return _unique(int(item) for item in text.split(","))
    except ValueError as error:
        raise PodiumError(f"--k must be whole numbers such as 1,10,100; got {text!r}") from error


def _unique(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """Each item once, in the order of their first occurrence."""
    return tuple(dict.fromkeys(items))


def _embeddings(trial: StoredTrial) -> "Iterator[EmbeddingsFile]":
    """Test embeddings of each fold, as stored, or computed again by the stored weights.

    Raises:
        PodiumError: the trial left neither embeddings nor weights.
    """
    from trainables.saved_models.embeddings_file import read_embeddings

    files, models = embeddings_by_fold(trial), models_by_fold(trial)
    if not files and not models:
        raise PodiumError(_why_nothing(trial))
    for _, file in sorted(files.items()):
        yield read_embeddings(file)
    for fold in sorted(models.keys() - files.keys()):
        from trainables.saved_models.trained_model import load_model
        from trainables.trial.fold_artifacts import embeddings_of_test

        say(f"No embeddings of fold {fold}: its weights compute them again.", err=True)
        # Code that a study names was trusted already when it trained.
        model, dataset = load_model(models[fold], trust_code=True), _dataset(trial)
        embeddings_ND, images = model.embed_test(dataset, _settings(trial).cache_folder)
        yield embeddings_of_test(model.file, dataset, images, embeddings_ND)


def _why_nothing(trial: StoredTrial) -> str:
    """Why a trial left neither embeddings nor weights."""
    stage, state = trial.row["stage"], trial.row["state"]
    if stage == "search":
        return f"trial {trial.trial_id} is of the stage search, which leaves no embeddings"
    if state != "COMPLETE":
        return f"trial {trial.trial_id} left nothing to evaluate: its state is {state}"
    return (
        f"trial {trial.trial_id} left neither embeddings nor weights in {trial.folder}: they were "
        "deleted, or switched off by the study's `keep` when it ran"
    )


def _settings(trial: StoredTrial) -> TrialSettings:
    return TrialSettings.from_dict(json.loads(trial.row["settings"]))


def _dataset(trial: StoredTrial) -> "Dataset":
    from trainables.dataset_interface.load_dataset import load_dataset

    settings = _settings(trial)
    return load_dataset(settings.dataset, settings.cache_folder)


def _row(fold: int, score: "Score") -> dict[str, object]:
    return {
        "fold": fold,
        "metric": score.metric,
        "k": score.k,
        "value": score.value,
        "queries": score.queries,
        "gallery": score.gallery,
    }


def _means(rows: Sequence[dict[str, object]]) -> Iterator[dict[str, object]]:
    """The mean over folds of each metric and K; nothing if there is one fold."""
    if len({row["fold"] for row in rows}) < 2:
        return
    values: dict[tuple[object, object], list[float]] = {}
    for row in rows:
        values.setdefault((row["metric"], row["k"]), []).append(float(str(row["value"])))
    for (metric, k), over_folds in values.items():
        yield {"fold": "mean", "metric": metric, "k": k, "value": fmean(over_folds)}

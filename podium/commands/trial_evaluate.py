"""``podium trial evaluate``: any metric of the test images of a trial, without training."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.trial_argument import (
    InStudies,
    StoredTrial,
    TrialId,
    kept_files,
    stored_trial,
    why_nothing_kept,
)
from podium.errors import PodiumError
from podium.orchestrator.results.records.artifact_files import embedding_files, model_files
from podium.orchestrator.results.storage.local_copies import local_copy
from podium.terminal.printing import Form, print_table, say
from podium.trainables.settings.trial_settings import TrialSettings

if TYPE_CHECKING:
    from podium.kept_files.embeddings_file import EmbeddingsFile
    from podium.trainables.dataset_interface.dataset import Dataset

_COLUMNS = ("fold", "metric", "k", "value", "queries", "gallery")


def command(
    *,
    trial: TrialId,
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
    within: InStudies,
    form: Form,
) -> None:
    """Compute any metric of the test images of a trial, for each fold and as the mean over folds.

    Takes the embeddings the trial left. If it left none, its weights embed the test images again,
    which needs the data set. The trial was tested already, so this reads nothing new.
    """
    stored = stored_trial(trial, within.folders())
    try:
        ks = [] if k is None else list(dict.fromkeys(map(int, k.split(","))))
    except ValueError as error:
        raise PodiumError(f"--k must be whole numbers such as 1,10,100; got {k!r}") from error
    metrics = [] if metric is None else list(dict.fromkeys(map(str.strip, metric.split(","))))
    rows = _rows_of_trial(stored, metrics, ks, strict=strict)
    print_table([*rows, *_means(rows)], columns=_COLUMNS, form=form)


def _rows_of_trial(
    trial: StoredTrial, metrics: Sequence[str], ks: Sequence[int], *, strict: bool
) -> list[dict[str, object]]:
    from podium.trainables.saved_models.stored_scores import known_metrics, stored_scores

    settings = TrialSettings.from_dict(json.loads(trial.row["settings"]))

    @cache
    def dataset() -> "Dataset":
        from podium.trainables.dataset_interface.load_dataset import load_dataset

        return load_dataset(settings.dataset, settings.cache_folder)

    return [
        {"fold": file.fold, **asdict(score)}
        for file in _embeddings(trial, dataset, settings.cache_folder)
        for score in stored_scores(
            file,
            metrics or known_metrics(file)[:1],
            ks or settings.ks,
            strict=strict,
            dataset=dataset,
        )
    ]


def _embeddings(
    trial: StoredTrial, dataset: "Callable[[], Dataset]", cache_folder: str | None
) -> "Iterator[EmbeddingsFile]":
    """Test embeddings of each fold, as stored, or computed again by the stored weights.

    Raises:
        PodiumError: the trial left neither embeddings nor weights.
    """
    from podium.kept_files.embeddings_file import read_embeddings

    files, models = kept_files(trial, embedding_files), kept_files(trial, model_files)
    if not files and not models:
        what = "embeddings or weights"
        raise PodiumError(why_nothing_kept(trial, what, ("final", "baseline")))
    for _, file in sorted(files.items()):
        yield read_embeddings(local_copy(file))
    for fold in sorted(models.keys() - files.keys()):
        from podium.trainables.saved_models.trained_model import load_model
        from podium.trainables.trial.fold_artifacts import embeddings_of_test

        say(f"No embeddings of fold {fold}: its weights compute them again.", err=True)
        # Code that a study names was trusted already when it trained.
        model = load_model(local_copy(models[fold]), trust_code=True)
        embeddings_ND, images = model.embed_test(dataset(), cache_folder)
        yield embeddings_of_test(model.file, dataset(), images, embeddings_ND)


def _means(rows: Sequence[dict[str, object]]) -> Iterator[dict[str, object]]:
    """The mean over folds of each metric and K; nothing if there is one fold."""
    if len({row["fold"] for row in rows}) < 2:
        return
    values: dict[tuple[object, object], list[float]] = {}
    for row in rows:
        values.setdefault((row["metric"], row["k"]), []).append(float(str(row["value"])))
    for (metric, k), over_folds in values.items():
        yield {"fold": "mean", "metric": metric, "k": k, "value": fmean(over_folds)}

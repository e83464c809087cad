"""Any metric of the test images of a trial, from its stored embeddings and without training."""

from collections.abc import Callable, Sequence

import torch

from podium.kept_files.embeddings_file import EmbeddingsFile
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.metrics.class_retrieval import METRIC_NAMES, ClassRetrieval
from podium.trainables.metrics.label_ranking import label_ranking
from podium.trainables.metrics.label_scores import mean_label_distance_scores, ndcg_scores
from podium.trainables.tasks import METRICS, objective_of
from podium.trainables.trial_reports import Score

_MAX_K = 2**31 - 1  # more than any gallery has

_CONTINUOUS = {"ndcg": ndcg_scores, "mean_label_distance": mean_label_distance_scores}


def known_metrics(file: EmbeddingsFile) -> tuple[str, ...]:
    """Names of what can be computed of a trial; the first is what its search maximised."""
    if file.task == "continuous":
        return tuple(metric.name for metric in METRICS["continuous"])
    objective = objective_of("classes")
    return (objective, *(name for name in METRIC_NAMES if name != objective))


def stored_scores(
    file: EmbeddingsFile,
    names: Sequence[str],
    ks: Sequence[int],
    *,
    strict: bool = False,
    dataset: Callable[[], Dataset],
) -> tuple[Score, ...]:
    """Scores of the role ``test``; those the trial reported come out the same.

    Args:
        file: the embeddings.
        names: metrics, among `known_metrics`.
        ks: the K of metrics that have one.
        strict: see `ClassRetrieval`; without effect where the task is continuous.
        dataset: called only where images are retrieved by label distances.

    Raises:
        TrialInputError: a metric is unknown for this task or cannot be computed, a K is out of
            range, or the data set is not the one of the trial.
    """
    for name in names:
        if name not in known_metrics(file):
            raise unknown_name("metric", name, known_metrics(file))
    if bad := [k for k in ks if not 1 <= k <= _MAX_K]:
        raise TrialInputError(f"every K must be at least 1 and at most {_MAX_K}; got {bad[0]}")
    embeddings_ND = torch.from_numpy(file.embeddings_ND)
    if file.task == "continuous":
        distances = _same_test(file, dataset()).label_distances
        assert distances is not None, "the test hash is that of a data set with label distances"
        ranking = label_ranking(
            embeddings_ND,
            distances.among(file.indices_N),
            max(ks),
            by_direction=file.geometry == "cosine",
        )
        return tuple(
            score for name in names for score in _CONTINUOUS[name](ranking, ks, role="test")
        )
    is_gallery_N = file.is_gallery_N
    found = ClassRetrieval(
        embeddings_ND=embeddings_ND,
        labels_N=torch.from_numpy(file.labels_N),
        is_gallery_N=None if is_gallery_N is None else torch.from_numpy(is_gallery_N),
        strict=strict,
        geometry=file.geometry,
    )
    try:
        return found.scores(names, ks)
    except ValueError as error:
        raise TrialInputError(str(error)) from error


def _same_test(file: EmbeddingsFile, dataset: Dataset) -> Dataset:
    if dataset.test_hash != file.dataset["test_hash"]:
        raise TrialInputError(
            f"the test images of {dataset.name} or their label distances are not those of the "
            f"trial: their hash is {dataset.test_hash}, the trial's {file.dataset['test_hash']}"
        )
    return dataset

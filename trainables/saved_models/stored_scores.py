"""Any metric of the test images of a trial, from its stored embeddings and without training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from podium.kept_files.embeddings_file import EmbeddingsFile
from trainables.dataset_interface.dataset import Dataset
from trainables.errors import TrialInputError, unknown_name
from trainables.metrics.class_retrieval import METRIC_NAMES, ClassRetrieval
from trainables.metrics.label_ranking import label_ranking
from trainables.metrics.label_scores import mean_label_distance_scores, ndcg_scores
from trainables.tasks import METRICS, objective_of
from trainables.trial_reports import Score

_MAX_K = 2**31 - 1  # more than any gallery has

_CONTINUOUS = {"ndcg": ndcg_scores, "mean_label_distance": mean_label_distance_scores}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedScores:
    """What is computed of the embeddings of a fold.

    Attributes:
        names: names of metrics, among `known_metrics`.
        ks: the K of metrics that have one.
        strict: see `ClassRetrieval`; without effect where the task is continuous, as the others.
        seed: seed of clustering and of folds of verification.
        has_pairs: whether the data set says which pairs are verified.
    """

    names: Sequence[str]
    ks: Sequence[int]
    strict: bool = False
    seed: int = 0
    has_pairs: bool = False


def known_metrics(file: EmbeddingsFile) -> tuple[str, ...]:
    """Names of what can be computed of a trial; the first is what its search maximised."""
    if file.task == "continuous":
        return tuple(metric.name for metric in METRICS["continuous"])
    objective = objective_of("classes")
    return (objective, *(name for name in METRIC_NAMES if name != objective))


def stored_scores(
    file: EmbeddingsFile, asked: AskedScores, *, dataset: Callable[[], Dataset]
) -> tuple[Score, ...]:
    """Scores of the role ``test``; those the trial reported come out the same.

    Args:
        file: the embeddings.
        asked: metrics and how they are computed.
        dataset: loads the data set; called only where images are retrieved by label distances, or
            given pairs are verified, which embeddings do not hold.

    Raises:
        TrialInputError: a metric is unknown for this task or cannot be computed, a K is out of
            range, or the data set is not the one of the trial.
    """
    for name in asked.names:
        if name not in known_metrics(file):
            raise unknown_name("metric", name, known_metrics(file))
    _check_ks(asked.ks)
    if file.task == "continuous":
        return _by_label_distance(file, asked, dataset())
    pairs = None
    if asked.has_pairs and "verification" in asked.names:
        pairs = _same_test(file, dataset()).verification_pairs
        assert pairs is not None, "the test hash is that of a data set with pairs"
        pairs = pairs.among(file.indices_N)
    is_gallery_N = file.is_gallery_N
    found = ClassRetrieval(
        embeddings_ND=torch.from_numpy(file.embeddings_ND),
        labels_N=torch.from_numpy(file.labels_N),
        is_gallery_N=None if is_gallery_N is None else torch.from_numpy(is_gallery_N),
        strict=asked.strict,
        seed=asked.seed,
        pairs=pairs,
    )
    return scores_of_classes(found, asked.names, asked.ks)


def scores_of_classes(
    found: ClassRetrieval, names: Sequence[str], ks: Sequence[int]
) -> tuple[Score, ...]:
    """Scores of embeddings whose images have classes.

    Args:
        found: the embeddings.
        names: metrics, among `trainables.metrics.class_retrieval.METRIC_NAMES`.
        ks: the K of metrics that have one.

    Raises:
        TrialInputError: a metric is unknown or cannot be computed, a K is out of range, or an
            embedding is not finite.
    """
    _check_ks(ks)
    try:
        return found.scores(names, ks)
    except ValueError as error:
        raise TrialInputError(str(error)) from error


def _check_ks(ks: Sequence[int]) -> None:
    if bad := [k for k in ks if not 1 <= k <= _MAX_K]:
        raise TrialInputError(f"every K must be at least 1 and at most {_MAX_K}; got {bad[0]}")


def _by_label_distance(
    file: EmbeddingsFile, asked: AskedScores, dataset: Dataset
) -> tuple[Score, ...]:
    found = _same_test(file, dataset).label_distances
    assert found is not None, "the test hash is that of a data set with label distances"
    distances = found.among(file.indices_N)
    ranking = label_ranking(
        torch.from_numpy(file.embeddings_ND),
        distances,
        max(asked.ks),
        by_direction=file.by_direction,
    )
    return tuple(
        score
        for name in asked.names
        for score in _CONTINUOUS[name](ranking, asked.ks, role="test")
    )


def _same_test(file: EmbeddingsFile, dataset: Dataset) -> Dataset:
    if dataset.test_hash != file.dataset["test_hash"]:
        raise TrialInputError(
            f"the test images of {dataset.name} or their label distances or pairs are not those "
            f"of the trial: their hash is {dataset.test_hash}, the trial's "
            f"{file.dataset['test_hash']}"
        )
    return dataset

"""Names of columns of scores and hyperparameters, and the metrics' names as text."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

HYPERPARAMETER = "hp."
"""How columns of hyperparameters begin."""

_COLUMN = re.compile(r"val_(?P<metric>[a-z0-9_]+)_at_(?P<k>[0-9]+)")

# Of embeddings cut to their first numbers (`trainables.tasks.recall_of_first`).
_PREFIX = re.compile(r"recall_of_first_(?P<length>[0-9]+)")

_WORDS = {
    "recall": "Recall",
    "ndcg": "nDCG",
    "mean_label_distance": "mean label distance",
    # Without K, of test classes only: larger is better, and nothing is selected by them.
    "r_precision": "R-precision",
    "map_at_r": "MAP@R",
    "nmi": "NMI",
    "f1": "F1",
}
# Metric -> its name as a title: by epoch, without K. They explain scores, and rank nothing.
DIAGNOSTICS = {
    "loss": "Training loss",
    "active_fraction": "Active fraction",
    "gradient_norm": "Gradient norm",
    "intra_class_variance": "Intra-class variance",
    "inter_class_variance": "Inter-class variance",
    "effective_rank": "Effective rank",
}
# Of test classes, without K.
METRICS_WITHOUT_K = ("r_precision", "map_at_r", "nmi", "f1")
_TEST_COLUMN = re.compile(
    rf"test_(?:(?P<metric>[a-z0-9_]+)_at_(?P<k>[0-9]+)|(?P<without_k>{'|'.join(METRICS_WITHOUT_K)}))"
)
_SHORT = {"recall": "R", "mean_label_distance": "distance"}


class RankedScore(NamedTuple):
    """A metric of test classes at one K, which losses can be ranked by; K is 0 without one."""

    metric: str
    k: int = 0

    @property
    def name(self) -> str:
        """How options and study files have it: ``recall@4``, ``nmi``."""
        return f"{self.metric}@{self.k}" if self.k else self.metric

    @property
    def label(self) -> str:
        """``Recall@4``, ``NMI``."""
        return metric_label(self.metric, self.k)


class StoredMetric(NamedTuple):
    """A metric with a flat column for each K."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    direction: Literal["maximise", "minimise"]


# What every store written before there were other tasks holds.
RECALL = StoredMetric("recall", "maximise")


def score_column(metric: str, k: int) -> str:
    """Name of the flat validation column of a metric at K, of the selected epoch."""
    return f"val_{metric}_at_{k}"


def flat_test_column(metric: str, k: int | None) -> str:
    """Name of the flat test column of a metric at K, or of one without K, of final trials."""
    return f"test_{metric}" if k is None else f"test_{metric}_at_{k}"


def known_test_columns(names: Iterable[str]) -> dict[str, tuple[str, int | None]]:
    """Column -> metric and K, of all columns named by `flat_test_column`, in their order."""
    found = {name: match for name in names if (match := _TEST_COLUMN.fullmatch(name))}
    return {
        name: (match["metric"], int(match["k"])) if match["k"] else (match["without_k"], None)
        for name, match in found.items()
    }


def known_columns(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Metrics and values of K of all columns named by `score_column`, in their order."""
    found = [match for name in names if (match := _COLUMN.fullmatch(name))]
    metrics: Sequence[str] = [match["metric"] for match in found]
    ks = [int(match["k"]) for match in found]
    return tuple(dict.fromkeys(metrics)), tuple(dict.fromkeys(ks))


def metric_word(metric: str) -> str:
    """``Recall``, ``nDCG``: the metric in a text."""
    if prefix := _PREFIX.fullmatch(metric):
        return f"Recall (first {prefix['length']})"
    return _WORDS.get(metric, metric)


def metric_label(metric: str, k: int) -> str:
    """``Recall@1``, ``nDCG@1``: the metric at one K, as a title; ``NMI``, which has no K."""
    if metric in METRICS_WITHOUT_K:
        return metric_word(metric)
    return f"{metric_word(metric)}@{k}"


def short_label(metric: str, k: int) -> str:
    """``R@1``, ``nDCG@1``: the same where there is little room; ``NMI``, which has no K."""
    if metric in METRICS_WITHOUT_K:
        return metric_word(metric)
    return f"{_SHORT.get(metric, metric_word(metric))}@{k}"


def hyperparameters_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Name -> value of the hyperparameters that exist in a row of the table of trials."""
    return {
        name.removeprefix(HYPERPARAMETER): value
        for name, value in row.items()
        if name.startswith(HYPERPARAMETER) and value is not None
    }

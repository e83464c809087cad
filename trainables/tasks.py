"""What the labels of a data set say, and so what its images are retrieved by. No torch.

classes      each image has a class: retrieved by class, scored by Recall@K
continuous   any two images have a label distance: retrieved by it, scored by nDCG@K
"""

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

Task = Literal["classes", "continuous"]
Geometry = Literal["cosine", "euclidean", "poincare"]

_LABEL_DISTANCES = "label_distances"


class Metric(NamedTuple):
    """A score, and in which direction it is better."""

    name: str
    direction: Literal["maximise", "minimise"]


# What validation and test report for each K. The first is what searches maximise.
METRICS: Mapping[Task, tuple[Metric, ...]] = {
    "classes": (Metric("recall", "maximise"),),
    "continuous": (Metric("ndcg", "maximise"), Metric("mean_label_distance", "minimise")),
}


def recall_of_first(length: int) -> str:
    """Name of the Recall@K of embeddings cut to their first ``length`` numbers."""
    return f"recall_of_first_{length}"


def geometry_of(needs: Collection[str], task: Task = "classes") -> Geometry:
    """Distance by which images are retrieved after a loss with these needs.

    Lengths are part of what is learned from label distances unless the loss ignores them; classes
    are retrieved by cosine unless the loss says otherwise.
    """
    if "poincare" in needs:
        return "poincare"
    is_of_any_length = task == "continuous" and "normalised" not in needs
    return "euclidean" if "euclidean" in needs or is_of_any_length else "cosine"


def objective_of(task: Task) -> str:
    """Name of the metric that searches maximise and epochs are selected by."""
    return METRICS[task][0].name


def loss_problem(loss: str, needs: Collection[str], dataset: str, task: Task) -> str | None:
    """Why ``loss`` cannot learn the task of ``dataset``; None if it can."""
    trained = sorted({"normalised", "euclidean", "poincare"}.intersection(needs))
    if len(trained) > 1:
        return (
            f"{loss} compares embeddings by several distances ({', '.join(trained)}), and images "
            "are retrieved by one"
        )
    if task == "classes" and _LABEL_DISTANCES in needs:
        return (
            f"{loss} compares label distances, and the data set {dataset} has classes only: give "
            f"it a file of {_LABEL_DISTANCES}, or use glyph_masks"
        )
    if task == "continuous" and "poincare" in needs:
        return f"{loss} has Poincare distances, by which only classes are retrieved"
    if task == "continuous" and _LABEL_DISTANCES not in needs:
        return (
            f"{loss} learns classes, and the data set {dataset} is retrieved by label distance: "
            f"use a loss that needs {_LABEL_DISTANCES}, such as log_ratio"
        )
    return None


def sampler_problem(sampler: str, needs: Collection[str], dataset: str, task: Task) -> str | None:
    """Why ``sampler`` cannot make batches of ``dataset``; None if it can."""
    if task == "classes" and _LABEL_DISTANCES in needs:
        return (
            f"sampler {sampler} compares label distances, and the data set {dataset} has classes "
            "only"
        )
    return None

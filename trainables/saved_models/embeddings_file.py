"""The embeddings of the test images as one safetensors file, for metrics thought of later.

Tensors: ``embeddings`` float32 (N, D), of any length; ``labels`` int64 (N,), ``indices`` int64
(N,), places in the data set; ``gallery`` bool (N,) where some images are searched and never ask.

N = images, D = embedding dimension.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from trainables.errors import TrialInputError
from trainables.tasks import Task
from trainables.tensor_file import encode_tensors, read_tensors

_KIND = "embeddings"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingsFile:
    """The test images of one fold, in the order of the data set.

    Attributes:
        fold: split of the protocol.
        epoch: the selected one; 0 for a network that was not trained.
        task: task by which the images are retrieved (`trainables.tasks`).
        dataset: name, fingerprint and test hash of the data set.
        class_names: names of all classes of the data set, sorted; labels are indices into it.
        image_names: paths below the data set's folder; None where images are no files.
        by_direction: whether only the directions of embeddings mean something; else, for losses
            on label distances, their places do.
        scores: as the trial reported them: metric, k (None for metrics without) and value.
        embeddings_ND: float32.
        labels_N: int64.
        indices_N: int64.
        is_gallery_N: bool; None where every image is a query against all others.
        origin: who made it: versions, study, trial.
    """

    fold: int
    epoch: int
    task: Task
    dataset: Mapping[str, str]
    class_names: tuple[str, ...]
    image_names: tuple[str, ...] | None
    by_direction: bool
    scores: tuple[Mapping[str, Any], ...]
    embeddings_ND: Tensor
    labels_N: Tensor
    indices_N: Tensor
    is_gallery_N: Tensor | None
    origin: Mapping[str, str | int]

    def to_bytes(self) -> bytes:
        """The file; equal embeddings give equal bytes."""
        tensors = {
            "embeddings": self.embeddings_ND.float(),
            "labels": self.labels_N,
            "indices": self.indices_N,
        }
        if self.is_gallery_N is not None:
            tensors["gallery"] = self.is_gallery_N
        facts = {
            "fold": self.fold,
            "epoch": self.epoch,
            "task": self.task,
            "dataset": dict(self.dataset),
            "class_names": self.class_names,
            "image_names": self.image_names,
            "by_direction": self.by_direction,
            "scores": self.scores,
            "origin": dict(self.origin),
        }
        return encode_tensors(_KIND, facts, tensors)


def read_embeddings(file: str | Path) -> EmbeddingsFile:
    """What `EmbeddingsFile.to_bytes` wrote, with every byte of it checked; on the CPU.

    Raises:
        TrialInputError: the file is missing, damaged, holds something else, or is of another
            version of podium.
    """
    facts, tensors = read_tensors(Path(file), _KIND)
    names = facts.get("image_names")
    try:
        return EmbeddingsFile(
            fold=facts["fold"],
            epoch=facts["epoch"],
            task=facts["task"],
            dataset=facts["dataset"],
            class_names=tuple(facts["class_names"]),
            image_names=None if names is None else tuple(names),
            by_direction=facts["by_direction"],
            scores=tuple(facts["scores"]),
            embeddings_ND=tensors["embeddings"],
            labels_N=tensors["labels"],
            indices_N=tensors["indices"],
            is_gallery_N=tensors.get("gallery"),
            origin=facts["origin"],
        )
    except KeyError as error:
        raise TrialInputError(
            f"{file} was written by a version of podium that this one does not read: it has no "
            f"{error}"
        ) from error

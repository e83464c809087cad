"""Any metric of classes by its name, of embeddings that are there already. N = images."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from trainables.errors import TrialInputError, unknown_name
from trainables.metrics.clustering import clustering_scores
from trainables.metrics.first_positive_rank import (
    FirstPositiveRanks,
    first_positive_ranks,
)
from trainables.metrics.matched_recall import GallerySize, matched_recall_scores
from trainables.metrics.precision_at_r import (
    precision_at_r,
    precision_at_r_scores,
)
from trainables.metrics.recall_at_k import recall_scores
from trainables.trial_reports import Score

__all__ = ["METRIC_NAMES", "ClassRetrieval", "compute"]


@dataclass(frozen=True, kw_only=True)
class ClassRetrieval:
    """Embeddings of one role and their retrieval results; each is computed when first read.

    Attributes:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        is_gallery_N: bool, whether an image is in the gallery only, the others being the queries;
            None where every image is a query against all others.
        role: ``val`` or ``test``, copied to the scores.
        strict: whether a query without any positive counts, with the value 0, or is left out.
        seed: seed of clustering and of matched galleries; 0 in the reports of trials.
    """

    embeddings_ND: Tensor
    labels_N: Tensor
    is_gallery_N: Tensor | None = None
    role: str = "test"
    strict: bool = False
    seed: int = 0

    @cached_property
    def ranks(self) -> FirstPositiveRanks:
        """Where each query's first positive is: by it all Recall@K are known."""
        return first_positive_ranks(self.embeddings_ND, self.labels_N, self.is_gallery_N)

    def recall(self, ks: Sequence[int]) -> tuple[Score, ...]:
        """Recall@K for each K."""
        return recall_scores(self.ranks, ks, role=self.role, strict=self.strict)

    @cached_property
    def precision_at_r(self) -> tuple[Score, ...]:
        """R-precision and MAP@R."""
        found = precision_at_r(self.embeddings_ND, self.labels_N, self.is_gallery_N)
        return precision_at_r_scores(found, role=self.role, strict=self.strict)

    @cached_property
    def clustering(self) -> tuple[Score, ...]:
        """NMI and F1 of all images, queries and gallery alike."""
        return clustering_scores(self.embeddings_ND, self.labels_N, role=self.role, seed=self.seed)

    def matched_recall(self, ks: Sequence[int], size: GallerySize) -> tuple[Score, ...]:
        """Recall@K in galleries of ``size``."""
        return matched_recall_scores(
            self.embeddings_ND,
            self.labels_N,
            ks,
            size,
            role=self.role,
            is_gallery_N=self.is_gallery_N,
            strict=self.strict,
            seed=self.seed,
        )


_WITHOUT_K: Mapping[str, Callable[[ClassRetrieval], tuple[Score, ...]]] = {
    "r_precision": lambda found: found.precision_at_r[:1],
    "map_at_r": lambda found: found.precision_at_r[1:],
    "nmi": lambda found: found.clustering[:1],
    "f1": lambda found: found.clustering[1:],
}

METRIC_NAMES = ("recall", *_WITHOUT_K, "matched_recall")


def compute(
    names: Sequence[str],
    embeddings_ND: Tensor,
    labels_N: Tensor,
    *,
    ks: Sequence[int],
    is_gallery_N: Tensor | None = None,
    strict: bool = False,
    seed: int = 0,
    role: str = "test",
    matched_size: GallerySize | None = None,
) -> tuple[Score, ...]:
    """Scores in the order of ``names``, and of each one for every K where it has one.

    How NMI and F1 are clustered is no part of a score:
    `trainables.metrics.clustering_facts.CLUSTERING` says it.

    Args:
        names: names of metrics, among `METRIC_NAMES`.
        embeddings_ND: see `ClassRetrieval`, also for the others that are not explained here.
        labels_N: int64 class of each image.
        ks: the K of Recall@K and of matched Recall@K.
        is_gallery_N: see `ClassRetrieval`.
        strict: whether a query without any positive counts.
        seed: seed of clustering and of matched galleries.
        role: copied to the scores.
        matched_size: size of the galleries of matched Recall@K.

    Raises:
        TrialInputError: a name is unknown, or ``matched_recall`` lacks its size.
        ValueError: an embedding is not finite, a K is below 1, or no query has a positive.
    """
    found = ClassRetrieval(
        embeddings_ND=embeddings_ND,
        labels_N=labels_N,
        is_gallery_N=is_gallery_N,
        role=role,
        strict=strict,
        seed=seed,
    )
    scores: list[Score] = []
    for name in names:
        if name not in METRIC_NAMES:
            raise unknown_name("metric", name, METRIC_NAMES)
        if name == "recall":
            scores += found.recall(ks)
        elif name == "matched_recall":
            if matched_size is None:
                raise TrialInputError(
                    "matched_recall needs the size of the galleries to cut down to: the number of "
                    "classes, and of images if these are to be the same too"
                )
            scores += found.matched_recall(ks, matched_size)
        else:
            scores += _WITHOUT_K[name](found)
    return tuple(scores)

"""Embeddings of one role and how well classes are retrieved by them. N = images."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from podium.trainables.errors import unknown_name
from podium.trainables.metrics.clustering import clustering_scores
from podium.trainables.metrics.embedding_spread import spread_scores
from podium.trainables.metrics.first_positive_rank import FirstPositiveRanks, first_positive_ranks
from podium.trainables.metrics.precision_at_r import precision_at_r, precision_at_r_scores
from podium.trainables.metrics.recall_at_k import recall_scores
from podium.trainables.tasks import Geometry
from podium.trainables.trial_reports import Score


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
        geometry: by which distance images are retrieved. Clusters and spread are those of
            directions in any case.
    """

    embeddings_ND: Tensor
    labels_N: Tensor
    is_gallery_N: Tensor | None = None
    role: str = "test"
    strict: bool = False
    geometry: Geometry = "cosine"

    @cached_property
    def ranks(self) -> FirstPositiveRanks:
        """Where each query's first positive is: by it all Recall@K are known."""
        return first_positive_ranks(
            self.embeddings_ND, self.labels_N, self.is_gallery_N, self.geometry
        )

    def recall(self, ks: Sequence[int]) -> tuple[Score, ...]:
        """Recall@K for each K."""
        return recall_scores(self.ranks, ks, role=self.role, strict=self.strict)

    @cached_property
    def precision_at_r(self) -> tuple[Score, ...]:
        """R-precision and MAP@R."""
        found = precision_at_r(self.embeddings_ND, self.labels_N, self.is_gallery_N, self.geometry)
        return precision_at_r_scores(found, role=self.role, strict=self.strict)

    @cached_property
    def clustering(self) -> tuple[Score, ...]:
        """NMI and F1 of all images, queries and gallery alike."""
        return clustering_scores(self.embeddings_ND, self.labels_N, role=self.role)

    @cached_property
    def spread(self) -> tuple[Score, ...]:
        """Intra- and inter-class variance and effective rank of all images."""
        return spread_scores(self.embeddings_ND, self.labels_N, role=self.role)

    def scores(self, names: Sequence[str], ks: Sequence[int]) -> tuple[Score, ...]:
        """Scores in the order of ``names``, and of each one for every K where it has one.

        How NMI and F1 are clustered is no part of a score:
        `trainables.metrics.clustering_facts.CLUSTERING` says it.

        Args:
            names: names of metrics, among `METRIC_NAMES`.
            ks: the K of Recall@K.

        Raises:
            TrialInputError: a name is unknown.
            ValueError: an embedding is not finite, a K is below 1, or no query has a positive.
        """
        found: list[Score] = []
        for name in names:
            if name not in METRIC_NAMES:
                raise unknown_name("metric", name, METRIC_NAMES)
            found += self.recall(ks) if name == "recall" else _WITHOUT_K[name](self)
        return tuple(found)


_WITHOUT_K: Mapping[str, Callable[[ClassRetrieval], tuple[Score, ...]]] = {
    "r_precision": lambda found: found.precision_at_r[:1],
    "map_at_r": lambda found: found.precision_at_r[1:],
    "nmi": lambda found: found.clustering[:1],
    "f1": lambda found: found.clustering[1:],
    "intra_class_variance": lambda found: found.spread[:1],
    "inter_class_variance": lambda found: found.spread[1:2],
    "effective_rank": lambda found: found.spread[2:],
}

METRIC_NAMES = ("recall", *_WITHOUT_K)
"""Metrics of classes, by the names that `ClassRetrieval.scores` knows."""

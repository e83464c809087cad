"""Any metric of classes by its name, of embeddings that are there already."""

from collections.abc import Callable, Mapping, Sequence

from trainables.errors import TrialInputError, unknown_name
from trainables.metrics.class_retrieval import ClassRetrieval
from trainables.metrics.matched_recall import GallerySize, matched_recall_scores
from trainables.trial_reports import Score

_WITHOUT_K: Mapping[str, Callable[[ClassRetrieval], tuple[Score, ...]]] = {
    "r_precision": lambda found: found.precision_at_r[:1],
    "map_at_r": lambda found: found.precision_at_r[1:],
    "nmi": lambda found: found.clustering[:1],
    "f1": lambda found: found.clustering[1:],
}

# One name for several scores. TAR at FAR has a K of its own, and no other.
_VERIFICATION = "verification"

METRIC_NAMES = ("recall", *_WITHOUT_K, _VERIFICATION, "matched_recall")


def compute(
    names: Sequence[str],
    found: ClassRetrieval,
    ks: Sequence[int],
    matched_size: GallerySize | None = None,
) -> tuple[Score, ...]:
    """Scores in the order of ``names``, and of each one for every K where it has one.

    How NMI and F1 are clustered is no part of a score:
    `trainables.metrics.clustering_facts.CLUSTERING` says it.

    Args:
        names: names of metrics, among `METRIC_NAMES`.
        found: the embeddings, and how they are scored.
        ks: the K of Recall@K and of matched Recall@K.
        matched_size: size of the galleries of matched Recall@K.

    Raises:
        TrialInputError: a name is unknown, or ``matched_recall`` lacks its size.
        ValueError: an embedding is not finite, a K is below 1, or no query has a positive.
    """
    scores: list[Score] = []
    for name in names:
        if name not in METRIC_NAMES:
            raise unknown_name("metric", name, METRIC_NAMES)
        if name == "recall":
            scores += found.recall(ks)
        elif name == _VERIFICATION:
            scores += found.verification
        elif name == "matched_recall":
            if matched_size is None:
                raise TrialInputError(
                    "matched_recall needs the size of the galleries to cut down to: the number of "
                    "classes, and of images if these are to be the same too"
                )
            scores += matched_recall_scores(found, ks, matched_size)
        else:
            scores += _WITHOUT_K[name](found)
    return tuple(scores)

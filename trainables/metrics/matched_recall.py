"""Recall@K in galleries of a given size, so that sets of different size can be compared.

N = images, C = classes, G = kept gallery images.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trainables.errors import TrialInputError
from trainables.metrics.class_retrieval import ClassRetrieval
from trainables.trial_reports import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class GallerySize:
    """What a gallery is cut down to: the size of the set to compare with, such as validation.

    Attributes:
        num_classes: number of classes, at least 1.
        num_images: number of images of these classes, at least 1; None keeps all of them.
    """

    num_classes: int
    num_images: int | None = None


def matched_recall_scores(
    found: ClassRetrieval, ks: Sequence[int], size: GallerySize, *, num_draws: int = 10
) -> tuple[Score, ...]:
    """Recall@K within random classes, for each K: hits and queries are summed over the draws.

    A draw takes ``num_classes`` classes, each with the same chance, and of their images
    ``num_images``; fewer if they have fewer. Without a gallery every kept image is a query
    against all others that were kept. With one, gallery images are drawn and all queries of the
    classes ask. Recall@K falls as classes and images are added whatever the embedding does, so
    only galleries of one size say which of two sets is retrieved better. With one draw of all
    classes it is Recall@K.

    Source: the random subsets of classes of Zhdanov and Karpukhin 2023, Grouped Recall@K, here
    drawn independently.

    Args:
        found: the embeddings, and how they are scored. Draws follow from its seed, and are the
            same for all embeddings.
        ks: each at least 1.
        size: size of the galleries.
        num_draws: number of galleries drawn for each query, at least 1.

    Returns:
        Scores ``matched_recall``; ``gallery`` is the mean over the draws, to the nearest integer.

    Raises:
        TrialInputError: there are fewer classes, a count is below 1, or no query has a positive.
        ValueError: an embedding is not finite, or a K is below 1.
    """
    labels_N = found.labels_N.cpu()
    is_gallery_N = None if found.is_gallery_N is None else found.is_gallery_N.cpu()
    classes_C = torch.unique(labels_N)
    counts = (size.num_classes, num_draws, 1 if size.num_images is None else size.num_images)
    if min(counts) < 1 or size.num_classes > len(classes_C):
        raise TrialInputError(
            f"a gallery must have 1 to {len(classes_C)} classes, which are all there are, and at "
            f"least 1 image in at least 1 draw; got {size} and {num_draws} draws"
        )
    generator = torch.Generator().manual_seed(found.seed)
    totals: list[Score] = []
    for _ in range(num_draws):
        kept_N = _draw(labels_N, classes_C, size, is_gallery_N, generator)
        drawn = replace(
            found,
            embeddings_ND=found.embeddings_ND[kept_N.to(found.embeddings_ND.device)],
            labels_N=labels_N[kept_N],
            is_gallery_N=None if is_gallery_N is None else is_gallery_N[kept_N],
        )
        if len(drawn.ranks.ranks_Q) or drawn.strict:
            totals += drawn.recall(ks)
    if not totals:
        raise TrialInputError(
            "no query has another image of its class in any of the drawn galleries"
        )
    return tuple(_sum([score for score in totals if score.k == k]) for k in dict.fromkeys(ks))


def _draw(
    labels_N: Tensor,
    classes_C: Tensor,
    size: GallerySize,
    is_gallery_N: Tensor | None,
    generator: torch.Generator,
) -> Tensor:
    """Positions of the kept images, ascending: of gallery and of queries."""
    order_C = torch.randperm(len(classes_C), generator=generator)[: size.num_classes]
    is_chosen_N = torch.isin(labels_N, classes_C[order_C])
    may_go_N = is_chosen_N if is_gallery_N is None else is_chosen_N & is_gallery_N
    gallery_G = may_go_N.nonzero().squeeze(1)
    if size.num_images is not None:
        order_G = torch.randperm(len(gallery_G), generator=generator)
        is_chosen_N[gallery_G[order_G[size.num_images :]]] = False
    return is_chosen_N.nonzero().squeeze(1)


def _sum(scores: Sequence[Score]) -> Score:
    hits = sum(score.hits or 0 for score in scores)
    queries = sum(score.queries or 0 for score in scores)
    gallery = round(sum(score.gallery or 0 for score in scores) / len(scores))
    return Score(
        role=scores[0].role,
        metric="matched_recall",
        k=scores[0].k,
        value=hits / queries,
        hits=hits,
        queries=queries,
        gallery=gallery,
    )

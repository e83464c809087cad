"""Embeds the images of a role and scores how well they are retrieved.

N = images, D = embedding dimension.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.metrics.class_retrieval import ClassRetrieval
from podium.trainables.metrics.collapse import is_collapsed
from podium.trainables.metrics.label_ranking import label_ranking
from podium.trainables.metrics.label_scores import mean_label_distance_scores, ndcg_scores
from podium.trainables.metrics.recall_at_k import recall_class_hits
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.network import Network
from podium.trainables.tasks import Geometry, recall_of_first
from podium.trainables.trial_reports import ClassHits, Score

_FEW_BATCHES = 50  # BatchNorm of torch forgets the statistics it began with at .9 a batch


# Of one role: its scores, its hits by class, and the embeddings that were scored.
Evaluation = tuple[tuple[Score, ...], tuple[ClassHits, ...], Tensor]


def embed(embedder: Embedder | Network, images: LabelledImages) -> Tensor:
    """Embeddings of shape (N, D), of any length, by the network in its evaluation mode."""
    embedder.eval()
    with torch.no_grad():
        return torch.cat([embedder(chunk) for chunk in images.batches.evaluation()])


def embed_finite(
    embedder: Embedder | Network, images: LabelledImages, role: str, fold: int, epoch: int
) -> Tensor:
    """`embed`, where every embedding has to be finite.

    Args:
        embedder: the network.
        images: images of one role.
        role: ``train``, ``val`` or ``test``, for messages as are fold and epoch.
        fold: index of the fold.
        epoch: number of the epoch.

    Raises:
        Diverged: an embedding is not finite.
    """
    embeddings_ND = embed(embedder, images)
    num_bad = int((~embeddings_ND.isfinite().all(dim=1)).sum())
    if num_bad:
        what = f"{num_bad} of {len(images)} {role} embeddings are NaN or infinite"
        raise Diverged(what, fold, epoch)
    return embeddings_ND


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """Embeds and scores images as one fold of a trial does.

    Attributes:
        network: the network; a `Network` runs as in training, in the same precision.
        ks: the K of each metric.
        fold: index of the fold, for messages.
        geometry: by which distance images are retrieved.
        recall_only: leaves out what searches do not wait for: all scores without K.
        prefixes: lengths of prefixes of the embedding whose Recall@K are scores too.
    """

    network: Embedder | Network
    ks: Sequence[int]
    fold: int
    geometry: Geometry = "cosine"
    recall_only: bool = False
    prefixes: Sequence[int] = ()

    def evaluate(self, images: LabelledImages, role: str, epoch: int) -> Evaluation:
        """Embed and score images: by class, or by label distance where they have it.

        Every image is a query against all others of the role. Where the role has queries and a
        gallery, queries are searched in the gallery, and both are clustered.

        Args:
            images: images of one role.
            role: ``val`` or ``test``.
            epoch: number of the epoch, for messages.

        Returns:
            (scores, class_hits, embeddings_ND). Scores have one for each metric of the task and
            each K; the first is the objective. Of classes also the spread of embeddings, and of
            test classes R-precision, MAP@R, NMI and F1, which have no K. Hits by class are one
            for each K of Recall@K; none where the task is continuous.

        Raises:
            Diverged: an embedding is not finite.
            Collapsed: all embeddings have one direction, or one place where lengths count; their
                ranks would be arbitrary.
        """
        embeddings_ND = embed_finite(self.network, images, role, self.fold, epoch)
        # With label distances one direction is a collapse, whatever the lengths.
        is_by_class = images.label_distances is None
        if is_collapsed(embeddings_ND, self.geometry if is_by_class else "cosine"):
            what = f"all {len(images)} {role} embeddings coincide{_why_they_may(self.network)}"
            raise Collapsed(what, self.fold, epoch)
        if images.label_distances is not None:
            ranking = label_ranking(
                embeddings_ND,
                images.label_distances,
                max(self.ks),
                by_direction=self.geometry == "cosine",
            )
            scores = ndcg_scores(ranking, self.ks, role=role)
            scores += mean_label_distance_scores(ranking, self.ks, role=role)
            return scores, (), embeddings_ND
        return self._by_class(embeddings_ND, images, role)

    def _by_class(self, embeddings_ND: Tensor, images: LabelledImages, role: str) -> Evaluation:
        found = ClassRetrieval(
            embeddings_ND=embeddings_ND,
            labels_N=images.labels_N,
            is_gallery_N=images.is_gallery_N,
            role=role,
            geometry=self.geometry,
        )
        scores = found.recall(self.ks)
        if role == "test" and not self.recall_only:
            scores += (*found.precision_at_r, *found.clustering)
        scores += tuple(
            replace(score, metric=recall_of_first(length))
            for length in self.prefixes
            for score in replace(found, embeddings_ND=embeddings_ND[:, :length]).recall(self.ks)
        )
        if not self.recall_only:
            scores += found.spread
        hits = tuple(recall_class_hits(found.ranks, k, role=role) for k in self.ks)
        return scores, hits, embeddings_ND


def _why_they_may(network: Embedder | Network) -> str:
    """Of a network whose BatchNorm has followed few batches, that; else nothing."""
    embedder = network.embedder if isinstance(network, Network) else network
    layers = [layer for layer in embedder.modules() if isinstance(layer, _BatchNorm)]
    seen = max((int(it.num_batches_tracked or 0) for it in layers), default=0)
    if not 0 < seen < _FEW_BATCHES:
        return ""
    return (
        f"; its BatchNorm has followed {seen} batches, which may be too few: train for more"
        " epochs, with smaller batches, or start from weights"
    )

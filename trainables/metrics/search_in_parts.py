"""Ranks of first positives in a gallery of any size that is read in parts, by one or by many.

First the best positive of every query is sought in all parts, then the negatives above it are
counted in all parts. The former merge by their maximum and the latter by their sum, so how the
gallery is cut, and who reads which part in what order, changes nothing.

Q = queries, N = gallery images of a part, D = embedding dimension.
"""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from trainables.metrics._cosines import SortedRows, full_precision
from trainables.metrics._negatives import count_negatives_above
from trainables.metrics._positives import Positives
from trainables.metrics.first_positive_rank import FirstPositiveRanks, ranks_of_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativesAbove:
    """Negatives of one or several parts that are at least as similar as the best positive.

    Attributes:
        counts_Q: int64, of each query; 0 without any positive.
        num_doubtful: see `FirstPositiveRanks`.
    """

    counts_Q: Tensor
    num_doubtful: int

    def __add__(self, other: "NegativesAbove") -> "NegativesAbove":
        return NegativesAbove(
            counts_Q=self.counts_Q + other.counts_Q,
            num_doubtful=self.num_doubtful + other.num_doubtful,
        )


class SearchInParts:
    """The queries of a gallery that is read in parts; what it returns is on the CPU.

    Args:
        embeddings_QD: embeddings of any length and float type, on the device that is to search.
        labels_Q: int64 class of each query.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """

    def __init__(self, embeddings_QD: Tensor, labels_Q: Tensor) -> None:
        self._device = embeddings_QD.device
        with full_precision():
            self._queries = SortedRows(embeddings_QD, labels_Q)
        self._order_Q = self._queries.order_N.cpu()

    def best_positives(
        self, embeddings_ND: Tensor, labels_N: Tensor, so_far_Q: Tensor | None = None
    ) -> Tensor:
        """Cosine of the best positive of each query in a part, float64; -inf without any.

        Args:
            embeddings_ND: the images of a part, of any length and float type.
            labels_N: their int64 classes.
            so_far_Q: the best of other parts, which costs less than to merge it afterwards.

        Raises:
            ValueError: an embedding is not finite, or the shapes disagree.
        """
        with full_precision():
            part = self._part(embeddings_ND, labels_N)
            best_Q = torch.full_like(self._queries.lengths_N, -inf)
            if so_far_Q is not None:
                best_Q.copy_(so_far_Q[self._order_Q])
            Positives(self._queries, part).raise_exact_best(best_Q)
        return self._as_given(best_Q)

    def negatives_above(
        self, embeddings_ND: Tensor, labels_N: Tensor, best_Q: Tensor
    ) -> NegativesAbove:
        """The negatives of a part that are at least as similar as the best positive of all parts.

        Args:
            embeddings_ND: the images of the part, of any length and float type.
            labels_N: their int64 classes.
            best_Q: maximum of `best_positives` over all parts.

        Raises:
            ValueError: an embedding is not finite, or the shapes disagree.
        """
        best_Q = best_Q[self._order_Q].to(self._device)
        with full_precision():
            part = self._part(embeddings_ND, labels_N)
            counts_Q, num_doubtful = count_negatives_above(
                self._queries,
                part,
                Positives(self._queries, part),
                best_Q.float(),
                best_Q.__getitem__,
            )
        return NegativesAbove(counts_Q=self._as_given(counts_Q), num_doubtful=num_doubtful)

    def _part(self, embeddings_ND: Tensor, labels_N: Tensor) -> SortedRows:
        return SortedRows(embeddings_ND.to(self._device), labels_N)

    def _as_given(self, values_Q: Tensor) -> Tensor:
        return torch.empty_like(values_Q, device="cpu").index_copy_(
            0, self._order_Q, values_Q.cpu()
        )


def ranks_in_parts(
    labels_Q: Tensor, best_Q: Tensor, above: NegativesAbove, *, num_gallery: int
) -> FirstPositiveRanks:
    """What `first_positive_ranks` says of the whole gallery.

    Args:
        labels_Q: int64 class of each query.
        best_Q: maximum of `SearchInParts.best_positives` over all parts.
        above: sum of `SearchInParts.negatives_above` over all parts.
        num_gallery: images of all parts.
    """
    return ranks_of_counts(
        labels_Q.cpu(),
        best_Q > -inf,
        above.counts_Q,
        num_gallery=num_gallery,
        num_doubtful=above.num_doubtful,
    )

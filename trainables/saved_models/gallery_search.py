"""Scores of embeddings in files; with a gallery, which need not fit into memory, Recall@K.

Q = queries.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from trainables.device import trial_device
from trainables.errors import TrialInputError, unknown_name
from trainables.file_caches.build_progress import Progress
from trainables.metrics import by_name
from trainables.metrics.class_retrieval import ClassRetrieval
from trainables.metrics.first_positive_rank import FirstPositiveRanks
from trainables.metrics.recall_at_k import recall_scores
from trainables.metrics.search_in_parts import NegativesAbove, SearchInParts, ranks_in_parts
from trainables.saved_models.embedding_rows import EmbeddingRows
from trainables.saved_models.stored_scores import AskedScores, check_ks
from trainables.trial_reports import Score

# Bytes of a part as float32: what is read, converted and sorted at a time. On a GPU a part costs
# much the same whatever its size, in the commands for all queries.
_PART_BYTES = {"cpu": 2**26, "cuda": 2**28}


class Searcher(Protocol):
    """Searches parts of a gallery for the queries that it was made for."""

    def best_positives(self, parts: Sequence[EmbeddingRows]) -> Iterator[tuple[int, Tensor]]:
        """Rows of each part and the best positives in it or in those before, in any order."""

    def negatives_above(
        self, parts: Sequence[EmbeddingRows], best_Q: Tensor
    ) -> Iterator[tuple[int, NegativesAbove]]:
        """Rows of each part and the negatives in it above the best positives, in any order."""


class OwnSearcher:
    """Searches one part after the other in this process, on CUDA if there is one.

    Args:
        queries: files of the queries.
    """

    def __init__(self, queries: EmbeddingRows) -> None:
        embeddings_QD, labels_Q = queries.read()
        self._search = SearchInParts(embeddings_QD.to(trial_device()), labels_Q)

    def best_positives(self, parts: Sequence[EmbeddingRows]) -> Iterator[tuple[int, Tensor]]:
        """See `Searcher`."""
        best_Q = None
        for part in parts:
            best_Q = self._search.best_positives(*part.read(), best_Q)
            yield len(part), best_Q

    def negatives_above(
        self, parts: Sequence[EmbeddingRows], best_Q: Tensor
    ) -> Iterator[tuple[int, NegativesAbove]]:
        """See `Searcher`."""
        for part in parts:
            yield len(part), self._search.negatives_above(*part.read(), best_Q)


def ranks_in_gallery(
    queries: EmbeddingRows, gallery: Sequence[EmbeddingRows], searcher: Searcher
) -> FirstPositiveRanks:
    """Where each query's first positive is in the gallery; progress goes to standard error.

    No query is looked for among the gallery: an image in both is its own positive.

    Args:
        queries: files of the queries.
        gallery: files of the gallery, in any order.
        searcher: made for these queries.

    Raises:
        TrialInputError: dimensions differ, a file cannot be read, or an embedding is not finite.
    """
    for rows in gallery:
        if rows.dim != queries.dim:
            raise TrialInputError(
                f"queries and gallery must have as many dimensions, but {queries.file} has "
                f"{queries.dim} and {rows.file} has {rows.dim}"
            )
    part_bytes = _PART_BYTES[trial_device().type]
    parts = [part for rows in gallery for part in rows.parts(max(1, part_bytes // (4 * rows.dim)))]
    num_gallery = sum(map(len, parts))
    best_Q = torch.full((len(queries),), -torch.inf, dtype=torch.float64)
    progress = Progress("finding best positives", num_gallery)
    for num_rows, of_part_Q in searcher.best_positives(parts):
        best_Q = torch.maximum(best_Q, of_part_Q)
        progress.advance(num_rows)
    progress.end()
    above = NegativesAbove(counts_Q=torch.zeros(len(queries), dtype=torch.int64), num_doubtful=0)
    progress = Progress("counting negatives", num_gallery)
    for num_rows, of_part in searcher.negatives_above(parts, best_Q):
        above += of_part
        progress.advance(num_rows)
    progress.end()
    return ranks_in_parts(queries.labels(), best_Q, above, num_gallery=num_gallery)


def scores_of_rows(rows: EmbeddingRows, asked: AskedScores) -> tuple[Score, ...]:
    """Scores of a file whose every row is a query against all others, which are in memory.

    Args:
        rows: files of the rows.
        asked: metrics, among `trainables.metrics.by_name.METRIC_NAMES`, and how they are computed.

    Raises:
        TrialInputError: a metric is unknown or cannot be computed, a K is out of range, or an
            embedding is not finite.
    """
    check_ks(asked.ks)
    embeddings_ND, labels_N = rows.read()
    found = ClassRetrieval(
        embeddings_ND=embeddings_ND, labels_N=labels_N, strict=asked.strict, seed=asked.seed
    )
    try:
        return by_name.compute(asked.names, found, asked.ks, asked.matched_size)
    except ValueError as error:
        raise TrialInputError(str(error)) from error


def recall_in_gallery(
    queries: EmbeddingRows,
    gallery: Sequence[EmbeddingRows],
    searcher: Searcher,
    asked: AskedScores,
) -> tuple[Score, ...]:
    """Recall@K of the queries in a gallery of any size, for each K.

    Args:
        queries: files of the queries.
        gallery: files of the gallery, in any order.
        searcher: made for these queries.
        asked: no metric but ``recall``, the K, and whether queries without a positive are misses.

    Raises:
        TrialInputError: another metric is asked for, a K is out of range, dimensions differ, a
            file cannot be read, an embedding is not finite, or no query has a positive.
    """
    check_ks(asked.ks)
    for name in asked.names:
        if name != "recall":
            raise unknown_name("metric of a gallery in files", name, ("recall",))
    ranks = ranks_in_gallery(queries, gallery, searcher)
    try:
        return recall_scores(ranks, asked.ks, role="test", strict=asked.strict)
    except ValueError as error:
        raise TrialInputError(str(error)) from error

"""What each loss of a block retrieves for the same queries, and how these can be looked through.

N = images, Q = queries, L = losses, K = neighbours.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.study_results.kept_embeddings import kept_embeddings
from podium.analysis.study_results.nearest_images import nearest_images
from podium.analysis.study_results.study_results import StudyResults
from podium.kept_files.embeddings_file import EmbeddingsFile

NEIGHBOURS = 6
"""Neighbours of a query that are looked up, as many as trials store pictures of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Queries of one block and what losses retrieve for them.

    Attributes:
        losses: names of the losses.
        class_names: names of the classes; labels are indices into it.
        labels_N: class of each image.
        queries_Q: queries as indices of images, in an order that no outcome decides: one of each
            class after another.
        neighbours_LQK: nearest images of each query, best first.
        similarities_LQK: their cosines, or minus their distances in another geometry.
        num_queries: queries that the test has; Q may be fewer.
        is_by_class: whether a neighbour of the query's class is right and any other wrong.
    """

    losses: tuple[str, ...]
    class_names: tuple[str, ...]
    labels_N: NDArray[np.int64]
    queries_Q: NDArray[np.int64]
    neighbours_LQK: NDArray[np.int64]
    similarities_LQK: NDArray[np.float64]
    num_queries: int
    is_by_class: bool

    @property
    def is_right_LQK(self) -> NDArray[np.bool_]:
        """Whether each neighbour is of the query's class."""
        right: NDArray[np.bool_] = (
            self.labels_N[self.neighbours_LQK] == self.labels_N[self.queries_Q][:, None]
        )
        return right


def retrieved_by_embeddings(
    results: StudyResults, block: str, *, most_products: float
) -> tuple[Retrieved, EmbeddingsFile] | None:
    """What the kept embeddings of the tuned losses retrieve; None without any.

    Args:
        results: results of the study.
        block: label of the block.
        most_products: multiplications that the search of one loss may take. Where all queries
            would take more, the first in the order of `Retrieved.queries_Q` are searched.

    Returns:
        What is retrieved, and the embeddings of the first loss, which say of what images.
    """
    first, queries_Q, found = None, np.empty(0, dtype=np.int64), []
    for loss, stored in kept_embeddings(results, block, with_baseline=False):
        if first is None:
            first = stored
            queries_Q = _queries(stored, is_by_class=results.is_by_class)
            num_queries = len(queries_Q)
            a_query = stored.embeddings_ND.shape[1] * len(_gallery(stored))
            queries_Q = queries_Q[: max(1, int(most_products // a_query))]
        nearest = nearest_images(
            stored.embeddings_ND,
            queries_Q,
            _gallery(stored),
            NEIGHBOURS,
            stored.geometry,
        )
        found.append((loss, *nearest))
    if first is None or not len(queries_Q):
        return None
    losses, neighbours, similarities = zip(*found, strict=True)
    retrieved = Retrieved(
        losses=losses,
        class_names=first.class_names,
        labels_N=first.labels_N,
        queries_Q=queries_Q,
        neighbours_LQK=np.stack(neighbours),
        similarities_LQK=np.stack(similarities),
        num_queries=num_queries,
        is_by_class=results.is_by_class,
    )
    return retrieved, first


def stored_pictures(results: StudyResults, blocks: Collection[str]) -> pl.DataFrame:
    """Queries that the tuned losses of some blocks stored with pictures.

    ``block``, ``loss``, ``seed_index``, ``fold``, ``class_name``, ``png`` and ``neighbours``, in
    the order of the first four.
    """
    names = ("block", "loss")
    trial_ids = results.winners.filter(pl.col("block").is_in(blocks))["trial_id"].unique()
    return (
        results.reader.entries_of(
            "test_retrievals",
            pl.col("trial_id").is_in(trial_ids.implode()),
            carried=(*names, "seed_index"),
        )
        .with_columns(pl.col(names).cast(pl.String))
        .sort(*names, "seed_index", "fold", maintain_order=True)
    )


def retrieved_by_pictures(
    results: StudyResults, pictures: pl.DataFrame, block: str
) -> tuple[Retrieved, tuple[bytes, ...]] | None:
    """The few queries that trials stored with pictures, and a PNG of each image; None without any.

    They are those that every tuned loss of the block stored, of its first seed and fold.
    """
    frame = pictures.filter(pl.col("block") == block)
    runs = {
        str(loss): _first_run(part)
        for (loss,), part in frame.partition_by("loss", as_dict=True, maintain_order=True).items()
    }
    shared = [key for key in next(iter(runs.values()), {}) if all(key in r for r in runs.values())]
    if not shared:
        return None
    num = min(len(run[key]) for run in runs.values() for key in shared)
    listed = [found for run in runs.values() for key in shared for found in run[key][:num]]
    images = dict.fromkeys((*shared, *((found["class_name"], found["png"]) for found in listed)))
    places = {image: place for place, image in enumerate(images)}
    names = sorted({name for name, _ in images})
    shape = (len(runs), len(shared), num)
    neighbours = [places[found["class_name"], found["png"]] for found in listed]
    similarities = [found["similarity"] for found in listed]
    retrieved = Retrieved(
        losses=tuple(runs),
        class_names=tuple(names),
        labels_N=np.array([names.index(name) for name, _ in images]),
        queries_Q=np.arange(len(shared)),
        neighbours_LQK=np.array(neighbours, dtype=np.int64).reshape(shape),
        similarities_LQK=np.array(similarities, dtype=np.float64).reshape(shape),
        num_queries=len(shared),
        is_by_class=results.is_by_class,
    )
    return retrieved, tuple(png for _, png in images)


def query_orders(retrieved: Retrieved) -> Mapping[str, NDArray[np.int64]]:
    """Orders to look through the queries in, as indices into ``queries_Q``.

    ``sampled`` is not decided by any outcome. Where images are retrieved by class, ``worst`` and
    ``best`` go by the number of right neighbours of all losses together, and ``disagreements``
    has the queries whose nearest image is right under one loss and wrong under another, from the
    greatest difference in right neighbours downwards. Ties are in the order of ``sampled``.
    """
    sampled_Q = np.arange(len(retrieved.queries_Q))
    if not retrieved.is_by_class:
        return {"sampled": sampled_Q}
    is_right_LQK = retrieved.is_right_LQK
    right_LQ = is_right_LQK.sum(axis=2)
    nearest_LQ = is_right_LQK[:, :, 0]
    disagree_Q = np.flatnonzero(nearest_LQ.any(axis=0) & ~nearest_LQ.all(axis=0))
    range_Q = right_LQ.max(axis=0) - right_LQ.min(axis=0)
    return {
        "sampled": sampled_Q,
        "worst": np.argsort(right_LQ.sum(axis=0), kind="stable"),
        "best": np.argsort(-right_LQ.sum(axis=0), kind="stable"),
        "disagreements": disagree_Q[np.argsort(-range_Q[disagree_Q], kind="stable")],
    }


def _gallery(stored: EmbeddingsFile) -> NDArray[np.int64]:
    if stored.is_gallery_N is None:
        return np.arange(len(stored.labels_N))
    return np.flatnonzero(stored.is_gallery_N)


def _queries(stored: EmbeddingsFile, *, is_by_class: bool) -> NDArray[np.int64]:
    """All queries of the test: one of each class after another, classes and images by hash."""
    labels_N = stored.labels_N
    is_query_N = np.ones(len(labels_N), dtype=bool)
    if stored.is_gallery_N is not None:
        is_query_N = ~stored.is_gallery_N
    if is_by_class:
        searched = np.bincount(labels_N[_gallery(stored)], minlength=len(stored.class_names))
        own = 1 if stored.is_gallery_N is None else 0
        is_query_N &= searched[labels_N] > own
    order_C = {label: _hash(stored.class_names[label]) for label in np.unique(labels_N).tolist()}
    by_class: dict[int, list[int]] = {}
    for row in np.flatnonzero(is_query_N).tolist():
        by_class.setdefault(int(labels_N[row]), []).append(row)
    ranked = [
        (rank, order_C[label], row)
        for label, rows in by_class.items()
        for rank, row in enumerate(
            sorted(rows, key=lambda row: _hash(f"{order_C[label]} {stored.indices_N[row]}"))
        )
    ]
    return np.array([row for _, _, row in sorted(ranked)], dtype=np.int64)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _first_run(part: pl.DataFrame) -> dict[tuple[str, bytes], list[dict[str, Any]]]:
    """Query to neighbours, of the first seed and fold."""
    run = part.filter(pl.col("seed_index") == pl.col("seed_index").min()).filter(
        pl.col("fold") == pl.col("fold").min()
    )
    return {(row["class_name"], row["png"]): row["neighbours"] for row in run.to_dicts()}

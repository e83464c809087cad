"""Which queries a page shows where it cannot show all. Q = queries, L = losses, K = neighbours."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.study_results.retrieved_images import ConfusedPair, Retrieved, query_orders


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQueries:
    """The queries of a block that a page shows.

    Attributes:
        queries: indices into ``Retrieved.queries_Q``, ascending.
        images: indices of all images they need, each once: those of a query before its neighbours.
        orders: name -> places in ``queries``: the first queries of each order of `query_orders`,
            up to the first that is not shown.
    """

    queries: tuple[int, ...]
    images: tuple[int, ...]
    orders: Mapping[str, tuple[int, ...]]


def shown_queries(
    retrieved: Retrieved,
    pairs: Sequence[ConfusedPair],
    *,
    bytes_of_image: float,
    bytes_of_query: float,
    most_bytes: float,
) -> ShownQueries:
    """As many queries as a page has room for, at least one.

    They are taken in turn from each order and from the most confused pairs of classes.

    Args:
        retrieved: queries to choose from.
        pairs: most confused pairs of classes, of each of which one query is taken first.
        bytes_of_image: bytes of a thumbnail.
        bytes_of_query: bytes of a query's lists of neighbours.
        most_bytes: bytes that there are.
    """
    orders = query_orders(retrieved)
    confused = _first_confused(pairs, retrieved)
    in_turn = _in_turn([*(order.tolist() for order in orders.values()), confused])
    chosen: dict[int, None] = {}
    images: dict[int, None] = {}
    for query in in_turn:
        if query in chosen:
            continue
        more = dict.fromkeys(it for it in images_of(retrieved, query) if it not in images)
        num_images = len(images) + len(more)
        size = num_images * bytes_of_image + (len(chosen) + 1) * bytes_of_query
        if size > most_bytes and chosen:
            break
        images |= more
        chosen[query] = None
    queries = sorted(chosen)
    places = {query: place for place, query in enumerate(queries)}
    return ShownQueries(
        queries=tuple(queries),
        images=tuple(images),
        orders={name: _first(order, places) for name, order in orders.items()},
    )


def images_of(retrieved: Retrieved, query: int) -> list[int]:
    """The query's own image and all its neighbours, under one loss after another."""
    own = int(retrieved.queries_Q[query])
    return [own, *retrieved.neighbours_LQK[:, query].ravel().tolist()]


def _first(order_Q: NDArray[np.int64], places: Mapping[int, int]) -> tuple[int, ...]:
    shown = itertools.takewhile(lambda query: query in places, order_Q.tolist())
    return tuple(places[query] for query in shown)


def _first_confused(pairs: Sequence[ConfusedPair], retrieved: Retrieved) -> list[int]:
    """The first query of each pair that has one here."""
    names = np.array(retrieved.class_names)
    names_Q = names[retrieved.labels_N[retrieved.queries_Q]]
    nearest_LQ = names[retrieved.labels_N[retrieved.neighbours_LQK[:, :, 0]]]
    found = [
        np.flatnonzero((names_Q == it.class_name) & (nearest_LQ == it.nearest).any(axis=0))
        for it in pairs
    ]
    return [int(queries[0]) for queries in found if len(queries)]


def _in_turn(orders: Sequence[Sequence[int]]) -> Iterator[int]:
    for of_turn in itertools.zip_longest(*orders):
        yield from (query for query in of_turn if query is not None)

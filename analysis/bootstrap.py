"""How sure the order of a tournament is. R = replicates, B = blocks, C = competitors."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FEW_CLUSTERS",
    "LeaveOneOut",
    "RankBootstrap",
    "RankUncertainty",
    "bootstrap_ranks",
    "leave_one_out_podiums",
]

FEW_CLUSTERS = 5  # fewer give too few distinct resamples for a confidence interval
_PODIUM = 3
_CHUNK = 2**22  # numbers held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class RankUncertainty:
    """One competitor over all resamples: percentile interval of its average rank, and places.

    Resamples in which several share a place count in equal parts, so that ``p_first`` sums to 1
    over competitors and ``p_top_three`` to 3 (to C with fewer than three).
    """

    competitor: str
    average_rank: float
    low: float
    high: float
    p_first: float
    p_top_three: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBootstrap:
    """Uncertainty of all competitors, in the order given.

    ``is_sensitivity`` marks fewer than 5 clusters: then the numbers show how much the order
    depends on single clusters, and are no confidence statement. ``place_probability_CC[c, m]`` is
    the probability that competitor c takes place m + 1.
    """

    competitors: tuple[RankUncertainty, ...]
    place_probability_CC: NDArray[np.float64]
    num_clusters: int
    num_blocks: int
    replicates: int
    confidence: float
    is_sensitivity: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """The first three places, as (place, competitor), when one block is left out."""

    block: str
    podium: tuple[tuple[int, str], ...]


def bootstrap_ranks(
    names: Sequence[str],
    ranks_BC: NDArray[np.float64],
    *,
    clusters: Sequence[Hashable] | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> RankBootstrap:
    """Resample clusters with replacement, then the blocks of each drawn cluster.

    Blocks with the same data set and backbone resemble each other; resampling them as if they were
    independent gives intervals that are too narrow. Source: Davison and Hinkley 1997, section 3.8.

    Args:
        names: the C competitors.
        ranks_BC: average ranks within blocks.
        clusters: the cluster of each block, such as (dataset, backbone); None makes every block
            its own cluster.
        replicates: number of resamples R.
        confidence: of the percentile intervals.
        seed: equal seeds give equal numbers.
    """
    num_blocks, num_competitors = ranks_BC.shape
    members = _members(range(num_blocks) if clusters is None else clusters)
    generator = np.random.default_rng(seed)
    averages = []
    at_most_CC = np.zeros((num_competitors, num_competitors))
    for counts_RB in _resamples(members, num_blocks, replicates, generator):
        totals_RC = counts_RB @ ranks_BC
        averages.append(totals_RC / counts_RB.sum(axis=1, keepdims=True))
        at_most_CC += _places_at_most(totals_RC)
    at_most_CC /= replicates
    tail = 100 * (1 - confidence) / 2
    low_C, high_C = np.percentile(np.concatenate(averages), [tail, 100 - tail], axis=0)
    top = min(_PODIUM, num_competitors) - 1
    return RankBootstrap(
        competitors=tuple(
            RankUncertainty(
                competitor=name,
                average_rank=float(ranks_BC[:, c].mean()),
                low=float(low_C[c]),
                high=float(high_C[c]),
                p_first=float(at_most_CC[c, 0]),
                p_top_three=float(at_most_CC[c, top]),
            )
            for c, name in enumerate(names)
        ),
        place_probability_CC=np.diff(at_most_CC, axis=1, prepend=0),
        num_clusters=len(members),
        num_blocks=num_blocks,
        replicates=replicates,
        confidence=confidence,
        is_sensitivity=len(members) < FEW_CLUSTERS,
    )


def leave_one_out_podiums(
    names: Sequence[str], block_labels: Sequence[str], ranks_BC: NDArray[np.float64]
) -> tuple[LeaveOneOut, ...]:
    """The podium without each block in turn; empty with a single block."""
    if len(block_labels) < 2:
        return ()
    found = []
    for block, row_C in zip(block_labels, ranks_BC, strict=True):
        totals_C = ranks_BC.sum(axis=0) - row_C
        places = [1 + int((totals_C < total).sum()) for total in totals_C]
        podium = sorted((p, n) for p, n in zip(places, names, strict=True) if p <= _PODIUM)
        found.append(LeaveOneOut(block=block, podium=tuple(podium)))
    return tuple(found)


def _members(clusters: Sequence[Hashable]) -> list[NDArray[np.intp]]:
    """Block numbers of each cluster, clusters in order of first appearance."""
    found: dict[Hashable, list[int]] = {}
    for block, cluster in enumerate(clusters):
        found.setdefault(cluster, []).append(block)
    return [np.array(blocks) for blocks in found.values()]


def _resamples(
    members: Sequence[NDArray[np.intp]],
    num_blocks: int,
    replicates: int,
    generator: np.random.Generator,
) -> Iterator[NDArray[np.float64]]:
    """How often each block is drawn in each replicate, in chunks of replicates."""
    num_clusters = len(members)
    chunk = max(1, _CHUNK // num_blocks)
    for start in range(0, replicates, chunk):
        size = min(chunk, replicates - start)
        drawn = generator.multinomial(num_clusters, [1 / num_clusters] * num_clusters, size=size)
        counts_RB = np.zeros((size, num_blocks))
        for cluster, blocks in enumerate(members):
            # A cluster drawn m times gives m times its number of blocks, each drawn afresh.
            shares = [1 / len(blocks)] * len(blocks)
            counts_RB[:, blocks] = generator.multinomial(drawn[:, cluster] * len(blocks), shares)
        yield counts_RB


def _places_at_most(totals_RC: NDArray[np.float64]) -> NDArray[np.float64]:
    """[c, m]: in how many replicates competitor c takes place m + 1 or better.

    With ``better`` rivals ahead and ``tied`` at its total (itself included), that is the chance
    under random tie-breaking.
    """
    num_competitors = totals_RC.shape[1]
    better = np.zeros(totals_RC.shape)
    tied = np.zeros(totals_RC.shape)
    for rival in range(num_competitors):
        rival_R1 = totals_RC[:, rival : rival + 1]
        better += rival_R1 < totals_RC
        tied += rival_R1 == totals_RC
    return np.stack(
        [
            np.clip((place - better) / tied, 0, 1).sum(axis=0)
            for place in range(1, num_competitors + 1)
        ],
        axis=1,
    )

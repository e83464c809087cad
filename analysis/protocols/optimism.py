"""Optimism (selection bias) of the best validation score.

C configs, N networks, E epochs, K classes, H halves.

The best of many noisy scores overstates what was chosen (the winner's curse). Validation minus
test does not measure it: their classes and galleries differ. Two ways that do:

- ``class_optimism`` chooses by one half of the validation classes and scores on the other, from
  stored hits, without training anything again. It holds what the choice of classes adds.
- ``fresh_run_optimism`` trains what was chosen again and validates it on the same classes. It
  holds what the random start and order of a run add.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.split_halves import all_halves, half_means, top_shares
from podium.analysis.protocols.selection_candidates import config_candidates
from podium.analysis.scores.protocol_run_checks import SEARCH
from podium.errors import PodiumError


def class_optimism(
    class_hits: Iterable[pl.DataFrame], *, most_halves: int = 200, seed: int = 0
) -> pl.DataFrame:
    """Optimism of choosing by half of the validation classes, of each search.

    Each network's epoch is chosen by its recall on one half (the earliest keeps a tie), a
    config's score is the mean over its folds and seeds, and the best config is chosen by it. Its
    score there minus that on the other half at the same epochs is the optimism; both ways, so
    that easier halves cancel, and over many halves. Half the classes are noisier than all, so the
    search itself was less optimistic than this says, by about a factor of 1.4 where configs differ
    little.

    Args:
        class_hits: tables from ``checked``, of completed runs, at one K of Recall@K,
            each of whole searches and in the order of these.
        most_halves: largest number of halves H.
        seed: seed of the halves; each search has its own, so that their effect averages out.

    Returns:
        ``block``, ``loss``, ``protocol``, ``repeat``; ``optimism`` = ``epoch`` + ``config``:
        ``epoch`` is the mean over configs of what choosing the epoch of one given config adds,
        ``config`` what choosing among configs adds to that; ``score``, of the chosen, on the
        halves it was not chosen by; ``num_configs``, ``num_classes`` (the fewest of any network).
        All recalls are shares.

    Raises:
        PodiumError: a network was validated on fewer than two classes, or not on the same queries
            at each epoch.
    """
    rows: list[dict[str, object]] = []
    for hits in class_hits:
        for search, part in hits.group_by(SEARCH, maintain_order=True):
            of_networks = part.group_by("config", "fold", "seed", maintain_order=True)
            networks = [_network(found) for _, found in of_networks]
            rows.append(
                {
                    **dict(zip(SEARCH, search, strict=True)),
                    **_parts(networks, _halves_of(networks, most_halves, seed + len(rows))),
                    "num_configs": len({network.config for network in networks}),
                    "num_classes": min(len(network.classes) for network in networks),
                }
            )
    schema = {
        **dict.fromkeys(SEARCH[:3], pl.String),
        "repeat": pl.Int64,
        **dict.fromkeys(("optimism", "epoch", "config", "score"), pl.Float64),
        **dict.fromkeys(("num_configs", "num_classes"), pl.Int64),
    }
    return pl.DataFrame(rows, schema=schema)


def of_several_classes(class_hits: pl.DataFrame) -> pl.DataFrame:
    """The hits of networks with four validation classes or more: halves of one say little."""
    network = (*SEARCH, "config", "seed", "fold")
    return class_hits.filter(pl.col("class_id").n_unique().over(network) > 3)


def fresh_run_optimism(runs: pl.DataFrame, *, across_repeats: bool = False) -> pl.DataFrame:
    """Score of the best config in each search minus its score when run again.

    Assumed: the fresh runs validate on the classes of the search, and training is all that varies.

    Args:
        runs: table of runs from ``checked``. Completed runs of stage ``final`` with a
            validation score are fresh.
        across_repeats: whether runs of other repeats are fresh too; only where all repeats share
            their validation classes.

    Returns:
        ``block``, ``loss``, ``protocol``, ``repeat``, ``config`` (of those that tie the first
        suggested), ``optimism`` (mean over fresh runs; null without any) and ``num_fresh``.
    """
    config, run = [*SEARCH[:3], "config"], ["stage", "repeat", "seed"]
    is_whole = (pl.col("state") == "COMPLETE").all() & pl.col("val").is_not_null().all()
    means = (
        runs.group_by(*config, *run)
        .agg(pl.when(is_whole).then(pl.col("val").mean()).alias("val"))
        .drop_nulls("val")
        .sort(*config, *run)
    )
    of_configs, nothing = means.partition_by(config, as_dict=True), means.clear()
    rows: list[dict[str, object]] = []
    for candidates in config_candidates(runs):
        pick = int(np.argmax(candidates.val_C))
        name, val = candidates.candidates[pick], float(candidates.val_C[pick])
        is_fresh = pl.lit(across_repeats) & (pl.col("repeat") != candidates.unit)
        again = (
            of_configs.get((*candidates.place, name), nothing)
            .filter(is_fresh | (pl.col("stage") == "final"))["val"]
            .to_list()
        )
        rows.append(
            {
                **dict(zip(SEARCH, (*candidates.place, candidates.unit), strict=True)),
                "config": name,
                "optimism": float(np.mean([val - other for other in again])) if again else None,
                "num_fresh": len(again),
            }
        )
    schema = {
        **dict.fromkeys(SEARCH[:3], pl.String),
        "repeat": pl.Int64,
        "config": pl.String,
        "optimism": pl.Float64,
        "num_fresh": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Network:
    """One trained network: recall of each of its epochs on each of its validation classes."""

    config: str
    classes: tuple[tuple[int, int], ...]  # fold (-1 without folds), class
    recall_EK: NDArray[np.float64]
    queries_K: NDArray[np.float64]


def _network(rows: pl.DataFrame) -> _Network:
    """A network of its rows, which are sorted by epoch and class."""
    config, fold, run_seed = rows.select("config", "fold", "seed").row(0)
    name = f"config {config}, fold {fold}, seed {run_seed}"
    class_ids, queries, hits = (rows[it].to_numpy() for it in ("class_id", "queries", "hits"))
    num_epochs = rows["epoch"].n_unique()
    num_classes = len(rows) // num_epochs  # of each epoch, if all have as many
    shape = num_epochs, num_classes
    is_whole = len(rows) == math.prod(shape) and all(
        (rows_EK == rows_EK[0]).all()
        for rows_EK in (class_ids.reshape(shape), queries.reshape(shape))
    )
    if num_classes < 2 and len(np.unique(class_ids)) < 2:
        raise PodiumError(f"halves need two or more validation classes; {name} has 1")
    if not is_whole:
        raise PodiumError(
            f"a network is validated on the same queries at each epoch; {name} is not"
        )
    queries_EK = queries.reshape(shape)
    fold_key = -1 if fold is None else fold
    return _Network(
        config=config,
        classes=tuple((fold_key, k) for k in class_ids[:num_classes].tolist()),
        recall_EK=hits.reshape(shape) / queries_EK,
        queries_K=queries_EK[0].astype(np.float64),
    )


def _halves_of(
    networks: Sequence[_Network], most: int, seed: int
) -> dict[tuple[tuple[int, int], ...], NDArray[np.bool_]]:
    """Halves of each set of classes, H alike: sets with fewer ways repeat theirs."""
    sets = sorted({network.classes for network in networks})
    ways = {
        classes: all_halves(len(classes), most=most, seed=seed + n)
        for n, classes in enumerate(sets)
    }
    num = max(len(halves_HK) for halves_HK in ways.values()) // 2
    generator = np.random.default_rng(seed)
    found = {}
    for classes, halves_HK in ways.items():
        # Shuffled, so that folds are not always halved alike; a side stays with its complement.
        first = halves_HK[generator.permutation(num) % (len(halves_HK) // 2)]
        found[classes] = np.concatenate([first, ~first])
    return found


def _parts(
    networks: Sequence[_Network], halves: dict[tuple[tuple[int, int], ...], NDArray[np.bool_]]
) -> dict[str, float]:
    """``optimism``, ``epoch``, ``config`` and ``score``, means over the halves."""
    sides: dict[str, list[list[NDArray[np.float64]]]] = {}  # config -> both sides of its networks
    for network in networks:
        recalls, queries_1K = network.recall_EK, network.queries_K[None]
        means_HE = half_means(recalls, halves[network.classes], queries_1K)[0]
        epochs_H1 = means_HE.argmax(axis=1, keepdims=True)
        elsewhere_HE = np.roll(means_HE, len(means_HE) // 2, axis=0)
        both = [np.take_along_axis(it, epochs_H1, axis=1)[:, 0] for it in (means_HE, elsewhere_HE)]
        sides.setdefault(network.config, []).append(both)
    means_C = [np.mean(pairs, axis=0) for pairs in sides.values()]
    chosen_HC, elsewhere_HC = np.stack(means_C, axis=-1)
    shares_HC = top_shares(chosen_HC)
    total = _mean((shares_HC * (chosen_HC - elsewhere_HC)).sum(axis=1))
    epoch = _mean((chosen_HC - elsewhere_HC).mean(axis=1))
    score = _mean((shares_HC * elsewhere_HC).sum(axis=1))
    return {"optimism": total, "epoch": epoch, "config": total - epoch, "score": score}


def _mean(values_H: NDArray[np.float64]) -> float:
    return float(values_H.sum() / len(values_H))

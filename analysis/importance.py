"""How much each hyperparameter decides, with its interval and the noise it must exceed.

N configs of a search, P hyperparameters, R replicates. Importance here is a share of variance, 0 to
1: of "is among the best tenth" (PED-ANOVA), or of the score over the whole space (fANOVA). Such a
number is never negative, so pure noise has importance too. Shuffled scores say how much: an
importance that does not exceed the 95th percentile of what shuffling gives is noise.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.fanova import fanova_shares
from analysis.intervals import t_interval
from analysis.ped_anova import best_of, variance_shares
from analysis.search_configs import SearchConfigs
from analysis.tried_ranges import Tried

__all__ = [
    "LEAST_BLOCKS",
    "LEAST_CONFIGS",
    "METHODS",
    "ImportanceSettings",
    "SearchImportance",
    "importance_table",
    "search_importances",
]

METHODS = ("ped-anova", "fanova")
LEAST_CONFIGS = 15  # a third of which are the best, so that no density rests on fewer than 5
LEAST_BLOCKS = 5  # from which on the interval is over blocks
_LEAST_BEST = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceSettings:
    """How importance is computed.

    Attributes:
        method: one of `METHODS`.
        quantile: which part is the best; larger where fewer than 5 configs would be in it.
        permutations: of the scores, for noise.
        resamples: of the configs, for intervals.
        level: of being above noise.
    """

    method: Literal["ped-anova", "fanova"] = "ped-anova"
    quantile: float = 0.1
    permutations: int = 300
    resamples: int = 300
    level: float = 0.05
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchImportance:
    """Importances of one search.

    Attributes:
        values: of each hyperparameter; None with the ``reasons`` why not.
        noise: the same for shuffled scores (R,).
        resampled: the same for configs drawn anew (R,); empty if not asked for.
    """

    search: SearchConfigs
    num: int
    values: Mapping[str, float | None]
    reasons: Mapping[str, str]
    noise: Mapping[str, Floats]
    resampled: Mapping[str, Floats]


def search_importances(
    searches: Sequence[SearchConfigs],
    *,
    on: Literal["validation", "test"] = "validation",
    settings: ImportanceSettings | None = None,
) -> tuple[SearchImportance, ...]:
    """Importances within each search; nothing is compared between searches.

    Shuffled and drawn anew by generators that follow from the seed and the name of the search, so
    that no result depends on which other searches there are.

    Args:
        searches: from ``search_configs``.
        on: which scores.
        settings: of the computation.
    """
    chosen = settings or ImportanceSettings()
    num_blocks = {
        loss: len({item.block for item in members})
        for loss, members in groupby(searches, key=lambda item: item.loss)
    }
    return tuple(
        _of_search(item, on, chosen, is_resampled=num_blocks[item.loss] < LEAST_BLOCKS)
        for item in searches
    )


def _of_search(
    search: SearchConfigs, on: str, settings: ImportanceSettings, *, is_resampled: bool
) -> SearchImportance:
    scores_N = search.scores_N if on == "validation" else search.test_N
    known_N = np.isfinite(scores_N)
    scores_N = scores_N[known_N]
    reasons = {
        name: reason
        for name in search.tried
        if (reason := _reason(search, name, scores_N, search.places[name][known_N], settings))
    }
    names = [name for name in search.tried if name not in reasons]
    noise: dict[str, Floats] = {}
    resampled: dict[str, Floats] = {}
    values: dict[str, float | None] = dict.fromkeys(search.tried)
    if names:
        place = f"{search.loss}|{search.block}|{search.protocol}|{search.repeat}|{on}"
        generator = np.random.default_rng([settings.seed, zlib.crc32(place.encode())])
        compute = _ped_anova if settings.method == "ped-anova" else _fanova
        tried = {name: search.tried[name] for name in names}
        places = {name: search.places[name][known_N] for name in names}
        found, noise, resampled = compute(
            tried, places, scores_N, settings, generator, is_resampled
        )
        values.update(found)
    return SearchImportance(
        search=search,
        num=len(scores_N),
        values=values,
        reasons=reasons,
        noise=noise,
        resampled=resampled,
    )


def _reason(
    search: SearchConfigs,
    name: str,
    scores_N: Floats,
    places_N: Floats,
    settings: ImportanceSettings,
) -> str:
    """Why there is no importance; empty if there is one."""
    if len(scores_N) < LEAST_CONFIGS:
        return f"needs {LEAST_CONFIGS} complete configs; has {len(scores_N)}"
    exists_N = ~np.isnan(places_N)
    if search.tried[name].is_constant or len(np.unique(places_N[exists_N])) < 2:
        return "was not varied"
    if settings.method == "fanova" and not exists_N.all():
        return "does not exist in every config, which fANOVA needs"
    return "" if np.ptp(scores_N) else "all scores are equal"


_Found = tuple[dict[str, float], dict[str, Floats], dict[str, Floats]]


def _ped_anova(
    tried: Mapping[str, Tried],
    places: Mapping[str, Floats],
    scores_N: Floats,
    settings: ImportanceSettings,
    generator: np.random.Generator,
    is_resampled: bool,
) -> _Found:
    num = len(scores_N)
    quantile = max(settings.quantile, _LEAST_BEST / num)
    once_N = np.ones((1, num))
    best_N = best_of(scores_N, once_N, quantile)
    shuffled_RN = generator.permuted(np.repeat(best_N, settings.permutations, axis=0), axis=1)
    weights = [once_N, np.ones(shuffled_RN.shape)]
    bests = [best_N, shuffled_RN]
    if is_resampled:
        drawn_RN = generator.multinomial(num, np.full(num, 1 / num), size=settings.resamples)
        weights.append(drawn_RN.astype(np.float64))
        bests.append(best_of(scores_N, weights[-1], quantile))
    weights_RN, best_RN = np.concatenate(weights), np.concatenate(bests)
    shares = {
        name: variance_shares(
            item.cells(_known_scale(item, places[name])),
            item.num_steps,
            is_choice=item.is_choice,
            weights_RN=weights_RN,
            best_RN=best_RN,
        )
        for name, item in tried.items()
    }
    return _parted(shares, settings)


def _fanova(
    tried: Mapping[str, Tried],
    places: Mapping[str, Floats],
    scores_N: Floats,
    settings: ImportanceSettings,
    generator: np.random.Generator,
    is_resampled: bool,
) -> _Found:
    num = len(scores_N)
    rows = [np.arange(num)[None]]
    scores = [scores_N[None]]
    rows.append(np.repeat(rows[0], settings.permutations, axis=0))
    scores.append(generator.permuted(np.repeat(scores[0], settings.permutations, axis=0), axis=1))
    if is_resampled:
        rows.append(generator.integers(num, size=(settings.resamples, num)))
        scores.append(scores_N[rows[-1]])
    places_NP = np.stack(
        [_known_scale(item, places[name]) for name, item in tried.items()], axis=1
    )
    shares_RP = fanova_shares(
        places_NP,
        [len(item.values) for item in tried.values()],
        rows_RN=np.concatenate(rows),
        scores_RN=np.concatenate(scores),
        generator=generator,
    )
    return _parted({name: shares_RP[:, place] for place, name in enumerate(tried)}, settings)


def _parted(shares: Mapping[str, Floats], settings: ImportanceSettings) -> _Found:
    """The first is the value, then come those of shuffled scores, then those drawn anew."""
    end = 1 + settings.permutations
    return (
        {name: float(found[0]) for name, found in shares.items()},
        {name: found[1:end] for name, found in shares.items()},
        {name: found[end:] for name, found in shares.items()},
    )


def _known_scale(tried: Tried, places_N: Floats) -> Floats:
    """Places; of numbers whose scale is not recorded their ranks, which need none."""
    if tried.is_recorded or tried.is_choice:
        return places_N
    ranks_N = np.full(len(places_N), np.nan)
    exists_N = ~np.isnan(places_N)
    _, inverse_E, counts_V = np.unique(places_N[exists_N], return_inverse=True, return_counts=True)
    middle_V = np.cumsum(counts_V) - (counts_V + 1) / 2
    ranks_N[exists_N] = middle_V[inverse_E] / max(1, exists_N.sum() - 1)
    return ranks_N


def importance_table(
    found: Sequence[SearchImportance], *, settings: ImportanceSettings | None = None
) -> pl.DataFrame:
    """One row for each loss and hyperparameter: the mean over blocks, each the mean of its searches.

    With 5 blocks or more the interval is Student's t over blocks; with fewer it is the basic
    bootstrap over the configs of each search (twice the estimate less the quantiles, since drawing
    configs anew adds as much noise, and so importance, as there is already). Both end at 0.

    Args:
        found: from ``search_importances``.
        settings: those it was called with.

    Returns:
        ``loss``, ``hyperparameter``, ``importance``, ``low``, ``high``, ``interval`` (``blocks``,
        ``configs`` or null), ``noise`` (95th percentile of the mean for shuffled scores),
        ``p_value`` (one-sided), ``is_above_noise``, ``share`` (of the sum over hyperparameters of
        the loss), ``num_blocks``, ``num_searches``, ``num_configs``, and ``reason`` where there is
        no importance. By loss, then most important first.
    """
    chosen = settings or ImportanceSettings()
    rows = []
    for loss, members in groupby(found, key=lambda item: item.search.loss):
        own = list(members)
        names = list(dict.fromkeys(name for item in own for name in item.search.tried))
        of_loss = [_row(own, loss, name, chosen) for name in names]
        total = sum(row["importance"] or 0.0 for row in of_loss)
        for row in of_loss:
            known = row["importance"] is not None and total > 0
            row["share"] = row["importance"] / total if known else None
        rows += sorted(
            of_loss, key=lambda row: (row["importance"] is None, -(row["importance"] or 0.0))
        )
    return pl.DataFrame(rows, schema=_SCHEMA)


def _row(
    found: Sequence[SearchImportance], loss: str, name: str, settings: ImportanceSettings
) -> dict[str, object]:
    known = [item for item in found if item.values.get(name) is not None]
    row: dict[str, object] = {
        **dict.fromkeys(_SCHEMA),
        "loss": loss,
        "hyperparameter": name,
        "num_blocks": len({item.search.block for item in known}),
        "num_searches": len(known),
        "num_configs": sum(item.num for item in known),
    }
    if not known:
        row["reason"] = "; ".join(
            sorted({item.reasons[name] for item in found if name in item.reasons})
        )
        return row
    values_B = _block_means(known, lambda item: np.array([item.values[name]]))[:, 0]
    value = float(values_B.mean())
    noise_R = _block_means(known, lambda item: item.noise[name]).mean(axis=0)
    p_value = float((1 + (noise_R >= value).sum()) / (1 + len(noise_R)))
    row |= {
        "importance": value,
        "noise": float(np.quantile(noise_R, 1 - settings.level)),
        "p_value": p_value,
        "is_above_noise": p_value <= settings.level,
    }
    if len(values_B) >= LEAST_BLOCKS:
        interval = t_interval(values_B.tolist(), confidence=settings.confidence)
        assert interval.low is not None
        return row | {
            "low": max(0.0, interval.low),
            "high": interval.high,
            "interval": "blocks",
        }
    resampled = [item for item in known if len(item.resampled.get(name, ()))]
    if len(resampled) == len(known):
        drawn_R = _block_means(known, lambda item: item.resampled[name]).mean(axis=0)
        tail = (1 - settings.confidence) / 2
        below, above = np.quantile(drawn_R, [tail, 1 - tail])
        row |= {
            "low": max(0.0, 2 * value - above),
            "high": max(0.0, 2 * value - below),
            "interval": "configs",
        }
    return row


def _block_means(
    found: Sequence[SearchImportance], values: Callable[[SearchImportance], Floats]
) -> Floats:
    """Mean over the searches of each block, (blocks, R)."""
    blocks = sorted({item.search.block for item in found})
    return np.stack(
        [
            np.mean([values(item) for item in found if item.search.block == block], axis=0)
            for block in blocks
        ]
    )


_SCHEMA = {
    "loss": pl.String,
    "hyperparameter": pl.String,
    **dict.fromkeys(("importance", "low", "high"), pl.Float64),
    "interval": pl.String,
    **dict.fromkeys(("noise", "p_value"), pl.Float64),
    "is_above_noise": pl.Boolean,
    "share": pl.Float64,
    **dict.fromkeys(("num_blocks", "num_searches", "num_configs"), pl.Int64),
    "reason": pl.String,
}

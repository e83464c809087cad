"""Intervals of one score: over seeds by Student's t, over test classes by the bootstrap."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
"""Level of all intervals."""

FEWEST_VALUES = 3
"""With two values Student's t interval reaches 13 standard errors, which says nothing."""

_ROUNDING = 1e-9  # of the largest value: less scatter is rounding
_LEAST_SCATTER = 1e-12

_CHUNK = 2**22  # numbers held at once
_Number = float | NDArray[np.float64]
_Whether = np.bool_ | NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its interval and standard error, all in units of the score.

    ``num`` counts the independent pieces: seeds, blocks or classes. With one of them the error is
    unknown, and ``standard_error`` is None, never 0; ``low`` and ``high`` are None where
    `says_how_sure` is false.
    """

    estimate: float
    low: float | None
    high: float | None
    standard_error: float | None
    num: int


def t_reach(df: float) -> float:
    """How many standard errors Student's t interval with ``df`` degrees of freedom reaches."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + CONFIDENCE) / 2))


def says_how_sure(num: int, deviation: _Number, largest: _Number) -> _Whether:
    """Whether the scatter of independent pieces says how sure their mean is.

    It does from three pieces on, if they scatter at all: pieces that agree say nothing of what
    others would give. All intervals, p-values and probabilities follow this rule.

    Args:
        num: number of pieces.
        deviation: their standard deviation, or the standard error of their mean.
        largest: largest magnitude among the scores that they come from.
    """
    scatters = deviation > np.maximum(_LEAST_SCATTER, _ROUNDING * largest)
    return scatters & (num >= FEWEST_VALUES)


def t_interval(values: Sequence[float]) -> Interval:
    """Mean with Student's t interval over independent values, from 3 of them on.

    Args:
        values: at least one finite value, such as the score of each seed.
    """
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if len(array) < 2:
        return Interval(estimate=mean, low=None, high=None, standard_error=None, num=1)
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    return student_interval(mean, error, len(array), float(np.abs(array).max()))


def grouped_interval(values: Sequence[float], groups: Sequence[Hashable]) -> Interval:
    """Mean over all values with Student's t interval over groups, from 3 of them on.

    Values of one group may repeat each other, so the error of the mean is that of leaving out each
    group in turn (delete-one jackknife; Davison and Hinkley 1997, section 2.7.3). Where each value
    is a group of its own, this is `t_interval`.

    Args:
        values: at least one finite value, such as the gain in each block.
        groups: group of each value.
    """
    names = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    if len(names) == len(values):
        return t_interval(values)
    array, of_group = (
        np.asarray(values, dtype=np.float64),
        np.array([names[group] for group in groups]),
    )
    mean = float(array.mean())
    if len(names) == 1:
        return Interval(estimate=mean, low=None, high=None, standard_error=None, num=1)
    without = np.array([array[of_group != g].mean() for g in range(len(names))])
    error = math.sqrt((len(names) - 1) * float(without.var()))
    return student_interval(mean, error, len(names), float(np.abs(array).max()))


def student_interval(mean: float, error: float, num: int, largest: float) -> Interval:
    """Student's t interval of a mean of so many independent pieces, where `says_how_sure`."""
    reach = t_reach(num - 1) * error if says_how_sure(num, error, largest) else None
    return Interval(
        estimate=mean,
        low=None if reach is None else mean - reach,
        high=None if reach is None else mean + reach,
        standard_error=error,
        num=num,
    )


def _drawn(num_classes: int, replicates: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each class is drawn in each resample, a chunk of the resamples at a time."""
    chunk = max(1, _CHUNK // num_classes)
    if chunk >= replicates:
        yield _drawn_at_once(num_classes, replicates, seed)
        return
    generator = np.random.default_rng(seed)
    for start in range(0, replicates, chunk):
        yield _counts(generator, num_classes, min(chunk, replicates - start))


@lru_cache(maxsize=2)
def _drawn_at_once(num_classes: int, replicates: int, seed: int) -> NDArray[np.float64]:
    """Drawn once for all cells with so many classes."""
    return _counts(np.random.default_rng(seed), num_classes, replicates)


def _counts(
    generator: np.random.Generator, num_classes: int, replicates: int
) -> NDArray[np.float64]:
    drawn_RK = generator.integers(num_classes, size=(replicates, num_classes))
    of_replicate_RK = drawn_RK + num_classes * np.arange(replicates)[:, None]
    counts = np.bincount(of_replicate_RK.ravel(), minlength=replicates * num_classes)
    return counts.reshape(replicates, num_classes).astype(np.float64)


def class_bootstrap(
    hits: NDArray[np.int64], queries: NDArray[np.int64], *, replicates: int = 2_000, seed: int = 0
) -> Interval:
    """Recall over all queries, with its percentile interval when test classes are resampled.

    Queries of one class succeed and fail together, so classes are the independent pieces. The
    interval speaks of other test classes of the same kind, for the same trained model. There is
    none with fewer than three classes, or where all classes are found alike, as at 100 %.

    Args:
        hits: successful queries of each of the test classes.
        queries: all queries of each class, at least one per class.
        replicates: number of resamples.
        seed: equal seeds give equal numbers.
    """
    estimate = float(hits.sum() / queries.sum())
    num_classes = len(hits)
    unknown = Interval(
        estimate=estimate, low=None, high=None, standard_error=None, num=num_classes
    )
    if num_classes < FEWEST_VALUES:
        return unknown
    sums = [
        counts_RK @ np.stack([hits, queries], axis=1).astype(np.float64)
        for counts_RK in _drawn(num_classes, replicates, seed)
    ]
    hits_R, queries_R = np.concatenate(sums).T
    recalls = hits_R / queries_R
    error = float(recalls.std(ddof=1))
    if not says_how_sure(num_classes, error, 1.0):
        return unknown
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(recalls, [tail, 100 - tail])
    return Interval(
        estimate=estimate,
        low=float(low),
        high=float(high),
        standard_error=error,
        num=num_classes,
    )

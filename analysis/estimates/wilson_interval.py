"""The interval of a share: how often something happened in independent tries."""

import math
from statistics import NormalDist

from analysis.estimates.confidence_intervals import Interval

__all__ = ["wilson_interval"]


def wilson_interval(successes: float, tries: float, *, confidence: float = 0.95) -> Interval:
    """Share of successes with Wilson's score interval, which has a width also at 0 and at all.

    Assumes independent tries of one probability. Source: Wilson 1927.

    Args:
        successes: 0 to ``tries``; may be fractional, where tries were partly successful.
        tries: at least 1; may be fractional, where it stands for others that depend on each other.
        confidence: of the interval.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / tries
    middle = (share + z * z / (2 * tries)) / (1 + z * z / tries)
    half = (
        z
        / (1 + z * z / tries)
        * math.sqrt(share * (1 - share) / tries + z * z / (4 * tries * tries))
    )
    return Interval(
        estimate=share,
        low=max(0.0, middle - half),
        high=min(1.0, middle + half),
        standard_error=math.sqrt(share * (1 - share) / tries),
        num=round(tries),
        confidence=confidence,
    )

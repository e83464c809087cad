"""The interval of a share: how often something happened in independent repetitions."""

import math
from statistics import NormalDist

from podium.analysis.estimates.confidence_intervals import CONFIDENCE, Interval


def wilson_interval(successes: float, num: float) -> Interval:
    """Share of successes with Wilson's score interval, which has a width also at 0 and at all.

    Assumes independent repetitions of one probability. Source: Wilson 1927.

    Args:
        successes: number of successes, 0 to ``num``; fractional where some were partial.
        num: number of repetitions, at least 1; fractional where it is an effective sample size.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = successes / num
    middle = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z / (1 + z * z / num) * math.sqrt(share * (1 - share) / num + z * z / (4 * num * num))
    return Interval(
        estimate=share,
        low=max(0.0, middle - half),
        high=min(1.0, middle + half),
        standard_error=math.sqrt(share * (1 - share) / num),
        num=round(num),
    )

import math

import numpy as np
import polars as pl

from podium.analysis.protocols.costs import on_front


def front_of(frame):
    return on_front(frame, pl.col("hours"), pl.col("regret")).to_list()


def test_the_front_equals_a_slow_one_also_with_ties():
    points = np.random.default_rng(0).integers(0, 6, (40, 2))
    front = front_of(pl.DataFrame(points, schema=["hours", "regret"]))
    for (cost, regret), found in zip(points, front, strict=True):
        dominated = any(c <= cost and r <= regret and (c, r) != (cost, regret) for c, r in points)
        assert found == (not dominated)


def test_what_is_not_known_is_neither_on_the_front_nor_off_it():
    frame = pl.DataFrame({"hours": [1.0, 2, None, 0.5], "regret": [1.0, 2, 0, math.nan]})
    assert front_of(frame) == [True, False, None, None]

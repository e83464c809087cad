import math

import polars as pl
import pytest
from scipy import stats

from analysis.unit_means import unit_means
from orchestrator.results.errors import PodiumError

FRAME = pl.DataFrame(
    {
        "protocol": ["p", "p", "p", "p", "q"],
        "block": ["a", "a", "b", "c", "a"],
        "regret": [1.0, 3.0, 5.0, math.nan, 7.0],
        "tau": [0.0, 0.2, 0.5, 0.6, None],
    }
)


def test_each_unit_counts_once():
    p, q = unit_means(FRAME, ["regret", "tau"], by=["protocol"], unit=["block"]).to_dicts()
    assert (p["regret"], p["regret_units"]) == (3.5, 2)
    expected = stats.ttest_1samp([0.1, 0.5, 0.6], 0).confidence_interval(0.95)
    assert (p["tau_low"], p["tau_high"]) == pytest.approx((expected.low, expected.high))
    assert (q["regret"], q["regret_low"], q["regret_units"]) == (7, None, 1)
    assert (q["tau"], q["tau_units"]) == (None, 0)


def test_an_unknown_column_is_named():
    with pytest.raises(PodiumError, match="optimism is not in protocol, block"):
        unit_means(FRAME, ["optimism"], by=["protocol"], unit=["block"])

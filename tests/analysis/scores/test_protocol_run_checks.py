import math

import polars as pl
import pytest

from podium.analysis.scores.protocol_run_checks import checked
from podium.errors import PodiumError
from tests.analysis.protocol_studies import run

HITS = {
    "block": "b",
    "loss": "l",
    "protocol": "p",
    "repeat": 0,
    "config": "c0",
    "seed": 0,
    "fold": None,
    "epoch": 1,
    "class_id": 7,
    "queries": 4,
    "hits": 3,
}
ATTEMPT = {
    "protocol": "p",
    "trial": "t",
    "number": 1,
    "stage": "search",
    "state": "COMPLETE",
    "device": None,
    "gpu_seconds": 3.0,
}


def test_nan_is_missing_and_rows_are_ordered_whatever_their_order():
    frame = pl.DataFrame([run("c1", val=math.nan), run("c0", val=0.5)])
    runs = checked(frame, "runs")
    assert runs["config"].to_list() == ["c0", "c1"]
    assert runs["val"].to_list() == [0.5, None]
    assert runs.equals(checked(frame.reverse(), "runs"))


@pytest.mark.parametrize(
    ("table", "row", "message"),
    [
        ("runs", run("c0"), "runs occurs twice: block b, loss l, protocol p, repeat 0"),
        ("class hits", HITS, r"class hits occurs twice.*epoch 1, class_id 7"),
        ("attempts", ATTEMPT, "attempts occurs twice: protocol p, trial t, number 1"),
    ],
)
def test_a_row_that_occurs_twice_is_refused(table, row, message):
    assert len(checked(pl.DataFrame([row]), table)) == 1
    with pytest.raises(PodiumError, match=message):
        checked(pl.DataFrame([row, row]), table)

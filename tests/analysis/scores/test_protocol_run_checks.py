import math

import polars as pl
import pytest

from podium.analysis.scores.protocol_run_checks import (
    checked_attempts,
    checked_class_hits,
    checked_runs,
)
from podium.errors import PodiumError
from tests.analysis.protocol_studies import run

HITS = {
    "block": "b",
    "loss": "l",
    "protocol": "p",
    "repeat": 0,
    "config": "c0",
    "seed": 0,
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
    "gpu_seconds": 3.0,
}


def rows(*changes, base=None):
    return pl.DataFrame([(base or run("c0", val=0.5)) | change for change in changes])


def test_nan_is_missing_and_rows_are_ordered_whatever_their_order():
    frame = rows({"config": "c1", "val": math.nan}, {"config": "c0"})
    checked = checked_runs(frame)
    assert checked["config"].to_list() == ["c0", "c1"]
    assert checked["val"].to_list() == [0.5, None]
    assert checked.equals(checked_runs(frame.reverse()))


def test_what_may_be_absent_is_null():
    checked = checked_runs(rows({}).drop("index", "fold"))
    assert checked.select("index", "fold", "gpu_seconds").row(0) == (None, None, None)
    assert checked_class_hits(pl.DataFrame([HITS]))["fold"].to_list() == [None]
    assert checked_attempts(pl.DataFrame([ATTEMPT]))["device"].to_list() == [None]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{}, {}], "occurs twice: block b, loss l, protocol p, repeat 0"),
        ([{"state": "DONE"}], "COMPLETE, PRUNED, FAILED; it holds 'DONE'"),
        ([{"stage": "tuning"}], "search, final; it holds 'tuning'"),
        ([{"val": math.inf}], "must be finite; column 'val'"),
        ([{"repeat": None}], "belongs to a repeat"),
        ([{"config": None}], "'config' of the table of runs is empty in row 1"),
        ([{"seed": "first"}], "wrong type"),
    ],
)
def test_runs_that_cannot_be_are_refused(changes, message):
    with pytest.raises(PodiumError, match=message):
        checked_runs(rows(*changes))


def test_a_missing_column_is_named():
    with pytest.raises(PodiumError, match="it lacks val, test"):
        checked_runs(rows({}).drop("val", "test"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hits": 5}, "class 7 of config c0 has 5 of 4"),
        ({"queries": 0, "hits": 0}, "at least 1 query"),
        ({"epoch": None}, "'epoch' of the table of class hits is empty"),
    ],
)
def test_hits_that_cannot_be_are_refused(change, message):
    with pytest.raises(PodiumError, match=message):
        checked_class_hits(rows(change, base=HITS))


def test_a_class_of_a_network_occurs_once():
    with pytest.raises(PodiumError, match=r"occurs twice.*epoch 1, class_id 7"):
        checked_class_hits(rows({}, {"hits": 2}, base=HITS))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"gpu_seconds": -1.0}], "attempt 1 of t has -1.0"),
        ([{}, {}], "occurs twice: protocol p, trial t, number 1"),
        ([{"state": "LOST"}], "it holds 'LOST'"),
    ],
)
def test_attempts_that_cannot_be_are_refused(changes, message):
    with pytest.raises(PodiumError, match=message):
        checked_attempts(rows(*changes, base=ATTEMPT))

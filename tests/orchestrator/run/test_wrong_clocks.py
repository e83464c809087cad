"""Clocks that jump by years change no result, and no reader minds what they wrote."""

import datetime
import itertools
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.analysis.study_results.study_results import read_results
from podium.api.report import report_of_study
from podium.arguments.report_targets import ReportTargets
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.damaged_stores import TINY, careful_trial, run
from tests.orchestrator.small_study import InterruptedAfter, tables

# Backwards at each look, and ahead at every eleventh: whatever is looked at how often, some trials
# end before they start.
JUMPS_DAYS = itertools.cycle(range(3650, -3651, -730))


class Jumping(datetime.datetime):
    """A clock that somebody sets between any two looks at it."""

    @classmethod
    def now(cls, tz=None):
        moved = datetime.datetime.now(tz) + datetime.timedelta(days=next(JUMPS_DAYS))
        return cls.fromisoformat(moved.isoformat())


@pytest.fixture
def wrong_clock(monkeypatch):
    """Every module of ours that asks for the time."""
    asking = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("podium.orchestrator.")
        and getattr(module, "datetime", None) is datetime.datetime
    ]
    assert len(asking) >= 3
    for module in asking:
        monkeypatch.setattr(module, "datetime", Jumping)


def test_a_clock_that_jumps_changes_no_result(tmp_path, wrong_clock, monkeypatch):
    for _ in range(20):
        if not run(tmp_path / "wrong", TINY, InterruptedAfter(7, careful_trial)).interrupted:
            break
    folder = tmp_path / "wrong" / TINY.name
    trials = Reader(folder).trials().collect()
    assert (trials["started_at"] > trials["ended_at"]).any()
    assert (
        Reader(folder)
        .attempts()
        .filter(pl.col("started_at") > pl.col("ended_at"))
        .collect()
        .height
    )
    assert FollowedStudy(folder).view().state == "complete"
    assert verify_store(folder).problems == []
    assert report_of_study(read_results(folder)).write(ReportTargets()).exists()
    monkeypatch.undo()
    run(tmp_path / "right")
    assert_frame_equal(tables(tmp_path / "wrong"), tables(tmp_path / "right"))

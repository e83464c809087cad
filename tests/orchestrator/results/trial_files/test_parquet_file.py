"""What a Parquet file takes in memory, and what keeps it from being read, is known at once."""

import errno
import os

import polars as pl
import pytest

from podium.errors import CorruptFileError, StoreError, UnreachableError
from podium.orchestrator.results.storage.transient_errors import retrying_for
from podium.orchestrator.results.trial_files.parquet_file import verified
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.failing_calls import fail_calls, system_error
from tests.orchestrator.results.store_rows import (
    commit,
    new_store,
    row,
)

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture
def store_of_one(tmp_path):
    return commit(new_store(tmp_path), row(0))


@pytest.fixture
def trial_file(store_of_one):
    return store_of_one.trial("s0", "t000")


@pytest.mark.parametrize("function", ["open", "fdopen"])
def test_a_file_that_is_away_is_read_in_the_end_or_unreachable(trial_file, monkeypatch, function):
    left = fail_calls(monkeypatch, os, function, system_error(errno.ESTALE), 3)
    assert verified(trial_file) == trial_file.read_bytes()
    assert left == [0]
    left[0] = 10_000
    message = r"cannot read .*t000\.parquet: Stale file handle"
    with retrying_for(0.02), pytest.raises(UnreachableError, match=message):
        verified(trial_file)


def test_a_file_that_the_system_does_not_open_is_not_damaged(trial_file):
    trial_file.unlink()
    with pytest.raises(CorruptFileError, match=r"t000\.parquet is missing"):
        verified(trial_file)
    trial_file.parent.rmdir()
    trial_file.parent.symlink_to(trial_file.parent)
    with pytest.raises(StoreError, match=r"cannot look at .*t000\.parquet: .*symbolic"):
        verified(trial_file)


def test_frames_wait_for_files_that_are_away(store_of_one, monkeypatch):
    whole = Reader(store_of_one.folder).trials().collect()
    real, left = pl.LazyFrame.collect, [3]

    def collect(frame, *arguments, **options):
        if "Parquet SCAN" in frame.explain() and left[0] > 0:
            left[0] -= 1
            raise OSError("Stale file handle (os error 116): t000.parquet")
        return real(frame, *arguments, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", collect)
    assert Reader(store_of_one.folder).trials().collect().equals(whole)
    assert left == [0]

"""What keeps a Parquet file from being read is no damage of the file, and may be over soon."""

import errno
import os
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from orchestrator.results.storage.transient_errors import retrying_for
from orchestrator.results.trial_files.parquet_file import (
    check_bytes,
    open_parquet,
    read_column,
    read_groups,
    read_trials,
)
from orchestrator.results.trial_files.reader import Reader
from podium.errors import CorruptFileError, StoreError, UnreachableError
from tests.orchestrator.results.failing_calls import fail_calls
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, row

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture
def store_of_one(tmp_path):
    return commit(new_store(tmp_path), row(0))


@pytest.fixture
def trial_file(store_of_one):
    return store_of_one.trial("s0", "t000")


READINGS = {
    "checksum": check_bytes,
    "groups": lambda path: [*read_groups(path, SCHEMA)],
    "trials": lambda path: [*read_trials(path, SCHEMA, {"t000"})],
    "column": lambda path: [*read_column(path, "trial_id")],
}


@pytest.mark.parametrize(
    ("name", "owner", "function"),
    [
        ("checksum", Path, "open"),
        ("groups", Path, "open"),
        ("groups", pq, "ParquetFile"),
        ("groups", pq.ParquetFile, "read_row_group"),
        ("trials", pq, "ParquetFile"),
        ("trials", pq.ParquetFile, "read_row_group"),
        ("column", pq.ParquetFile, "read_row_group"),
    ],
)
def test_a_file_that_is_away_for_a_moment_is_read_in_the_end(
    trial_file, monkeypatch, name, owner, function
):
    found = READINGS[name](trial_file)
    stale = OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    left = fail_calls(monkeypatch, owner, function, stale, 3)
    assert READINGS[name](trial_file) == found
    assert left == [0]


def test_a_handle_that_went_stale_is_replaced(trial_file, monkeypatch):
    real, stale = pq.ParquetFile.read_row_group, []

    def read_row_group(self, *arguments, **options):
        if not stale or stale[0] is self:
            stale[:] = [self]
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(self, *arguments, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", read_row_group)
    assert [*read_column(trial_file, "trial_id")] == ["t000"]


def test_a_store_that_stays_away_is_unreachable_and_not_damaged(trial_file, monkeypatch):
    fail_calls(monkeypatch, pq, "ParquetFile", OSError(errno.EIO, "Input/output error"), 10_000)
    with (
        retrying_for(0.02),
        pytest.raises(UnreachableError, match=r"cannot read .*t000\.parquet: Input/output"),
    ):
        open_parquet(trial_file)


@pytest.mark.parametrize("name", READINGS)
def test_a_file_that_the_system_does_not_open_is_not_damaged(trial_file, name):
    trial_file.unlink()
    trial_file.parent.rmdir()
    trial_file.parent.symlink_to(trial_file.parent)
    with pytest.raises(StoreError, match=r"cannot read .*t000\.parquet: .*symbolic links"):
        READINGS[name](trial_file)


@pytest.mark.parametrize("name", READINGS)
def test_a_missing_file_is_named(trial_file, name):
    trial_file.unlink()
    with pytest.raises(CorruptFileError, match=r"t000\.parquet is not a readable .*No such"):
        READINGS[name](trial_file)


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

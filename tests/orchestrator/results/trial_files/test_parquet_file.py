"""What a Parquet file takes in memory, and what keeps it from being read, is known at once."""

import errno
import os

import polars as pl
import pytest

from podium.errors import CorruptFileError, StoreError, UnreachableError
from podium.orchestrator.results.storage.transient_errors import retrying_for
from podium.orchestrator.results.trial_files.commit_trials import to_table
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.parquet_file import verified
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.failing_calls import fail_calls, system_error
from tests.orchestrator.results.parquet_bombs import many_details, with_checksum
from tests.orchestrator.results.store_frames import all_frames
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    check_store,
    class_hits,
    commit,
    new_store,
    row,
    score,
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
    assert verified(trial_file).num_rows == 1
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


ONE = to_table(SCHEMA, row(0))
PLAIN = {"use_dictionary": False}
MESSAGE = (
    r"t000\.parquet is not read: its rows would take [\d,.]+ MB of memory; those of a file of its"
    r" size take at most [\d,.]+ MB"
)


@pytest.mark.parametrize("column", ["scores", "class_hits"])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}], ids=["usual", "plain"])
def test_a_bomb_that_its_footer_tells_is_refused_by_all_who_read(
    store_of_one, trial_file, column, options
):
    trial_file.write_bytes(with_checksum(many_details(ONE, column, 2_000_000), **options))
    assert trial_file.stat().st_size < 300_000
    reader = Reader(store_of_one.folder)
    for read in (reader.trials().collect, reader.scores().collect, reader.ended_trials):
        with pytest.raises(CorruptFileError, match=MESSAGE):
            read()


@pytest.mark.parametrize("is_gathered", [False, True])
@pytest.mark.parametrize(
    "details",
    [
        {"class_hits": [class_hits(number % 1_132) for number in range(113_200)]},
        {"class_hits": [class_hits(1)] * 113_200},
        {"scores": [score("val", epoch, 0.5) for epoch in range(20_000)]},
        {"message": "the same line again\n" * 2_000},
        {},
    ],
    ids=["a hundred epochs", "the same hits", "many epochs", "a long message", "none"],
)
def test_what_trials_hold_is_far_from_the_bound(tmp_path, details, is_gathered):
    paths = commit(new_store(tmp_path), *(row(index, **details) for index in range(3)))
    if is_gathered:
        gather_all(paths)
    assert len(all_frames(paths)["trials"]) == check_store(paths) == 3

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from orchestrator.results.records.attempts import (
    Attempt,
    read_attempt,
    read_attempts,
    read_attempts_of_trial,
    write_attempt,
)
from orchestrator.results.trial_files.reader import Reader
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_rows import change_json, new_store

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
RUNNING = Attempt(
    trial_id="t0",
    search="s0",
    number=1,
    node="n1",
    pid=12,
    device="cpu",
    started_at=START,
    ended_at=None,
    cause=None,
)


def test_an_attempt_is_written_at_its_start_and_again_at_its_end(tmp_path):
    paths = new_store(tmp_path)
    write_attempt(paths, RUNNING)
    assert read_attempt(paths, "s0", "t0", 1) == RUNNING
    ended = replace(RUNNING, ended_at=START + timedelta(seconds=3), cause="complete")
    write_attempt(paths, ended)
    assert read_attempt(paths, "s0", "t0", 1) == ended
    assert read_attempts_of_trial(paths, "s0", "t0") == (ended,)


def test_attempts_are_counted_and_ordered_per_trial(tmp_path):
    paths = new_store(tmp_path)
    for trial_id, number in [("t1", 1), ("t0", 10), ("t0", 9)]:
        write_attempt(paths, replace(RUNNING, trial_id=trial_id, number=number))
    found = [(attempt.trial_id, attempt.number) for attempt in read_attempts(paths)]
    assert found == [("t0", 9), ("t0", 10), ("t1", 1)]
    assert read_attempts_of_trial(paths, "s0", "t2") == ()
    assert read_attempt(paths, "s0", "t2", 1) is None


def test_attempts_are_a_table_too(tmp_path):
    paths = new_store(tmp_path)
    assert Reader(paths.folder).attempts().collect().is_empty()
    write_attempt(paths, RUNNING)
    write_attempt(paths, replace(RUNNING, number=2, ended_at=START, cause="lost"))
    table = Reader(paths.folder).attempts().collect()
    assert table["number"].to_list() == [1, 2]
    assert table["started_at"].to_list() == [START, START]
    assert table["cause"].to_list() == [None, "lost"]
    assert table.schema["ended_at"] == pl.Datetime("us", "UTC")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("{}", "was changed after it was written"),
        (None, "is no attempt: .*yesterday"),
    ],
)
def test_a_damaged_attempt_is_named(tmp_path, text, message):
    paths = new_store(tmp_path)
    write_attempt(paths, RUNNING)
    path = paths.attempt("s0", "t0", 1)
    if text is None:
        change_json(path, started_at="yesterday")
    else:
        path.write_text(text)
    with pytest.raises(CorruptFileError, match=rf"attempts/s0/t0-1\.json {message}"):
        read_attempt(paths, "s0", "t0", 1)

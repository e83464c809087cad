from dataclasses import replace
from datetime import UTC, datetime

import pytest

from orchestrator.results.records.retried import (
    RetriedFailure,
    last_retried_attempt,
    read_retried,
    write_retried,
)
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_rows import change_json

FAILURE = RetriedFailure(
    trial_id="t1",
    number=1,
    search="s1",
    stage="search",
    cause="error",
    message="no such file",
    traceback="Traceback ...",
    log=None,
    ended_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    attempts=3,
    asks=7,
)


def test_a_failure_comes_back_as_it_was_written(paths):
    later = replace(FAILURE, number=2, attempts=5, ended_at=None)
    other = replace(FAILURE, trial_id="t0")
    for failure in (later, FAILURE, other):
        write_retried(paths, failure)
    assert read_retried(paths) == {"t0": [other], "t1": [FAILURE, later]}


def test_attempts_count_from_the_last_failure(paths):
    assert last_retried_attempt(paths, "t1") == 0
    for failure in (FAILURE, replace(FAILURE, number=2, attempts=5)):
        write_retried(paths, failure)
    assert last_retried_attempt(paths, "t1") == 5
    assert last_retried_attempt(paths, "t2") == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"attempts": -1}, "attempts: Input should be greater than or equal to 0"),
        ({"ended_at": "yesterday"}, "ended_at: Input should be a valid datetime"),
        ({"cause": None}, "cause: Input should be a valid string"),
        ({"more": 1}, "more: Unexpected keyword argument"),
        ({"number": 2}, "does not match its name"),
        ({"trial_id": "t2"}, "does not match its name"),
        ({"trial_id": "../t1"}, "trial_id: must be a name"),
    ],
)
def test_a_file_with_other_values_is_refused(paths, values, message):
    write_retried(paths, FAILURE)
    change_json(paths.retried_failure("t1", 1), **values)
    with pytest.raises(CorruptFileError, match=message):
        read_retried(paths)


def test_a_damaged_file_is_refused(paths):
    write_retried(paths, FAILURE)
    file = paths.retried_failure("t1", 1)
    file.write_bytes(file.read_bytes().replace(b"no such file", b"no such pile"))
    with pytest.raises(CorruptFileError, match=r"t1/1\.json was changed"):
        read_retried(paths)

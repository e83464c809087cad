import errno
import itertools
import json
import os
import string
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import CorruptFileError, StoreError
from podium.orchestrator.results.records import journal as journal_module
from podium.orchestrator.results.records.journal import (
    Journal,
    read_asks,
    read_attempts,
    read_journals,
    remove_journal,
    retried_failures,
)
from podium.orchestrator.results.records.journal_records import Ask, Attempt, RetriedFailure
from podium.orchestrator.results.records.runs import Run, write_run
from podium.orchestrator.results.records.store_paths import StudyPaths
from tests.object_store import proxied
from tests.orchestrator.journals import write_records
from tests.orchestrator.results.failing_calls import fail_calls, system_error

ASK = Ask(
    search="s",
    index=0,
    trial_id="t0",
    config_hash="c",
    hyperparameters={"margin": 0.1, "proxies": 3, "easy": True, "miner": "none"},
    source="sampler",
)
BEGUN = Attempt(
    trial_id="t0",
    search="s",
    number=1,
    node="n",
    pid=1,
    device="cpu",
    started_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
)
ENDED = replace(BEGUN, ended_at=datetime(2026, 1, 2, tzinfo=UTC), cause="error", seconds=1.5)
FAILURE = RetriedFailure(
    trial_id="t0",
    number=1,
    search="s",
    stage="search",
    cause="error",
    message="no such ümlaut\n",
    traceback="Traceback ...",
    ended_at=datetime(2026, 1, 2, tzinfo=UTC),
    attempts=1,
)
RUN = Run(
    number=1,
    started_at=datetime(2026, 1, 2, tzinfo=UTC),
    host="n",
    pid=1,
    podium_version="0.1.0",
    seconds=1.0,
    end="finished",
    budget={"gpu_hours": None, "wall_hours": None, "trials": None},
    trials_per_search=2,
)
RECORDS = (ASK, BEGUN, ENDED, FAILURE, replace(BEGUN, number=2), replace(ASK, index=1))

VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)


@pytest.fixture(params=["disk", "bucket", "memory_bucket"])
def paths(request, tmp_path):
    kind = request.param
    return StudyPaths((tmp_path if kind == "disk" else request.getfixturevalue(kind)) / "study")


@pytest.fixture
def local(tmp_path):
    return StudyPaths(tmp_path)


@pytest.fixture
def file(local):
    """The file of a journal with all kinds of records."""
    write_records(local, RECORDS)
    return local.journal("s", 1)


@settings(max_examples=50)
@given(st.dictionaries(st.text(string.ascii_letters, min_size=1), VALUES))
def test_hyperparameters_come_back_with_value_type_and_order(hyperparameters):
    with tempfile.TemporaryDirectory() as folder:
        paths = StudyPaths(Path(folder))
        write_records(paths, [replace(ASK, hyperparameters=hyperparameters)])
        (ask,) = read_asks(paths)["s"]
    assert list(ask.hyperparameters.items()) == list(hyperparameters.items())
    for name, value in hyperparameters.items():
        assert type(ask.hyperparameters[name]) is type(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), None])
def test_values_that_no_column_holds_are_refused(value):
    with pytest.raises(ValueError, match=r"hyperparameters\.a\."):
        replace(ASK, hyperparameters={"a": value})


def test_every_record_comes_back_and_of_an_attempt_what_is_known_last(paths):
    write_records(paths, RECORDS)
    write_records(paths, [replace(ASK, search="r", trial_id="t9")])
    assert list(read_asks(paths)) == ["r", "s"]
    assert list(read_attempts(paths)) == [ENDED, replace(BEGUN, number=2)]
    assert retried_failures(read_journals(paths)) == {"t0": [FAILURE]}


def test_an_empty_folder_has_no_records(paths):
    assert read_journals(paths) == {}
    assert Journal(paths).read() == {}


def test_a_driver_that_wakes_up_late_changes_nothing(paths):
    """Nor does a third run forget what the second has written."""
    first, second = Journal(paths), Journal(paths)
    first.write(ASK)
    second.read()
    late = replace(ASK, index=1, trial_id="late")
    first.write(late)
    second.write(replace(late, trial_id="right"))
    first.write(replace(late, index=2))
    first.flush(now=True)
    assert [ask.trial_id for ask in read_asks(paths)["s"]] == ["t0", "right"]
    write_records(paths, [replace(late, index=2, trial_id="third")])
    assert [ask.trial_id for ask in read_asks(paths)["s"]] == ["t0", "right", "third"]


def test_what_a_killed_run_left_is_on_the_disk_before_another_run_follows_it(local, monkeypatch):
    killed = Journal(local)
    for record in (ASK, BEGUN):
        killed.write(record)
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda it: synced.append(Path(f"/proc/self/fd/{it}").readlink())
    )
    Journal(local).read()
    assert synced == [local.journal("s", 1)]


def test_of_two_runs_that_continue_a_search_at_once_the_second_is_refused(paths):
    write_records(paths, [ASK])
    runs = Journal(paths), Journal(paths)
    for run in runs:
        run.read()
    runs[1].write(replace(ASK, index=1))
    with pytest.raises(StoreError, match=r"000002\.jsonl\S* was written by another process; two"):
        runs[0].write(replace(ASK, index=1))


def test_of_a_driver_that_was_killed_at_any_byte_whole_lines_count(local, file):
    content = file.read_bytes()
    ends = [at for at, byte in enumerate(content, start=1) if byte == ord("\n")]
    assert len(ends) == len(RECORDS)
    for length in range(len(content)):
        file.write_bytes(content[:length])
        found = read_journals(local).get("s")
        asks = [it for it in RECORDS[: sum(end <= length for end in ends)] if isinstance(it, Ask)]
        assert (found.asks if found else []) == asks
    write_records(local, [replace(ASK, index=1, trial_id="next")])  # the last line was torn
    assert [ask.trial_id for ask in read_asks(local)["s"]] == ["t0", "next"]


def test_every_changed_byte_is_named(local, file):
    content = file.read_bytes()
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        file.write_bytes(changed)
        with pytest.raises(CorruptFileError, match=r"s/000001\.jsonl: line \d+ does not match"):
            read_journals(local)


@pytest.mark.parametrize("number", [1, 2])
def test_a_missing_file_is_named_by_the_next_one(local, number):
    for index in range(3):
        write_records(local, [replace(ASK, index=index)])
    local.journal("s", number).unlink()
    with pytest.raises(CorruptFileError, match=rf"0{number + 1}\.jsonl: line 1 does not match"):
        read_asks(local)


def test_a_line_that_is_left_out_moved_or_doubled_is_named(local, file):
    lines = file.read_bytes().splitlines(keepends=True)
    for wrong in (lines[1:], lines[:2] + lines[3:], [*lines, lines[-1]], lines[::-1]):
        file.write_bytes(b"".join(wrong))
        with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
            read_journals(local)


@pytest.mark.parametrize(
    ("record", "change", "message"),
    [
        (ASK, {"index": 4}, "holds ask 4 where ask 0 must be"),
        (ASK, {"search": "z"}, "is of search z, not of s"),
        (ASK, {"extra": 1}, "is no ask: extra: Unexpected keyword argument; got 1"),
        (ASK, {"hyperparameters": {"a": None}}, "hyperparameters.a.bool: Input should be"),
        (ASK, {"source": "me"}, "source: Input should be 'default', 'given' or 'sampler'"),
        (ASK, {"trial_id": "../t"}, "trial_id: String should match pattern"),
        *((ASK, {"trial_id": it}, "trial_id: ") for it in (None, "", "a/b", ".x", "a\nb", ["a"])),
        (BEGUN, {"number": -1}, "number: Input should be greater than or equal to 0"),
        *((BEGUN, {"number": it}, "number: Input should be") for it in (1.0, True, "1", 2**63)),
        *((BEGUN, {"started_at": it}, "started_at: Input should") for it in ("yesterday", 5)),
        *((BEGUN, {"seconds": it}, "seconds: Input should be") for it in (-0.5, "1", 10**400)),
        (BEGUN, {"node": None}, "node: Input should be a valid string"),
        (BEGUN, {"started_at": "2026-01-02T03:04:05"}, "Input should have timezone info"),
        (BEGUN, {"seconds": True}, "seconds: Input should be a valid number"),
        (FAILURE, {"cause": None}, "is no retried: cause: "),
    ],
)
def test_a_sealed_line_with_values_that_podium_never_writes_is_named(
    local, monkeypatch, record, change, message
):
    values = json.loads(journal_module._json(record))
    changed = json.dumps({**values, **change}).encode()
    monkeypatch.setattr(journal_module, "_json", lambda record: changed)
    write_records(local, [record])
    with pytest.raises(CorruptFileError, match=rf"s/000001\.jsonl: line 1 .*{message}"):
        read_journals(local)


def test_what_is_no_journal_is_named(local, file):
    (file.parent / "notes.jsonl").write_text("{}")
    with pytest.raises(CorruptFileError, match=r"notes\.jsonl is no journal: its name must be"):
        read_asks(local)


@pytest.mark.parametrize("calls", [1, 3])
def test_a_write_that_fails_for_a_moment_is_whole(local, monkeypatch, calls):
    journal = Journal(local)
    journal.write(ASK)
    real = os.pwrite
    counts = itertools.count()

    def short(descriptor, data, at):  # a part is written, and then nothing for a while
        if next(counts) % 2 == 0:
            return real(descriptor, data[: len(data) // 2], at)
        return real(descriptor, data, at)

    monkeypatch.setattr(os, "pwrite", short)
    for index in range(1, 1 + calls):
        journal.write(replace(ASK, index=index))
    assert [ask.index for ask in read_asks(local)["s"]] == list(range(1 + calls))


def test_a_full_disk_ends_the_run_and_the_next_one_continues(local, monkeypatch):
    journal = Journal(local)
    journal.write(ASK)
    with monkeypatch.context() as patch:
        fail_calls(patch, os, "pwrite", system_error(errno.ENOSPC), 1)
        with pytest.raises(StoreError, match=r"cannot write .*000001\.jsonl: No space left"):
            journal.write(replace(ASK, index=1))
    write_records(local, [replace(ASK, index=1, trial_id="again")])
    assert [ask.trial_id for ask in read_asks(local)["s"]] == ["t0", "again"]


def test_what_is_to_go_is_whole_at_any_moment(paths):
    for index in range(3):
        write_records(paths, [replace(ASK, index=index)])
    for number in (3, 2):
        remove_last = paths.journal("s", number)
        journal_module.remove(remove_last)
        assert [ask.index for ask in read_asks(paths)["s"]] == list(range(number - 1))
    remove_journal(paths, "s")
    assert read_asks(paths) == {}


def test_lines_that_the_last_run_left_and_are_missing_now_are_named(local, file):
    run = replace(RUN, journal_lines={"s": len(RECORDS), "renewed": 5})
    write_run(local, run)
    assert len(read_asks(local)["s"]) == 2
    file.write_bytes(file.read_bytes().rpartition(b"{")[0])
    with pytest.raises(CorruptFileError, match=r"journal/s has 5 lines, and had 6 when the last"):
        read_asks(local)
    write_run(local, replace(run, journal_lines={}))
    assert len(read_asks(local)["s"]) == 1


def test_in_a_bucket_attempts_wait_for_the_next_ask_and_large_objects_end(s3_service, monkeypatch):
    monkeypatch.setattr(journal_module, "_OBJECT_BYTES", 2_000)
    with proxied(s3_service) as (proxy, bucket):
        paths = StudyPaths(bucket / "study")
        journal = Journal(paths)
        for index in range(6):
            journal.write(replace(ASK, index=index, trial_id=f"t{index}"))
            journal.write(replace(BEGUN, trial_id=f"t{index}"))
            journal.write(replace(ENDED, trial_id=f"t{index}"))
            journal.flush()
        assert [method for method, _ in proxy.requests] == ["PUT"] * 6
        journal.flush(now=True)
        files = {path for _, path in proxy.requests}
    assert len(proxy.requests) == 7
    assert 1 < len(files) < 4
    assert [attempt.cause for attempt in read_attempts(paths)] == ["error"] * 6

"""Counts beside segments: whoever counts trials reads no rows, and they are those of the rows."""

from collections import Counter

import polars as pl
import pytest

from orchestrator.results.storage.checksummed_text import write_checksummed
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results.trial_files.withdraw_trials import withdraw_trials
from podium.errors import CorruptFileError
from tests.orchestrator.results.small_segments import make_segments_small
from tests.orchestrator.results.store_rows import (
    change_json,
    commit,
    new_store,
    row,
)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Two segments and a loose trial, with trials of every kind."""
    make_segments_small(monkeypatch.setattr)
    store = new_store(tmp_path)
    commit(store, row(0), row(1, state="PRUNED"), row(2))
    compact(store)
    final = {"stage": "final", "search": "s1"}
    commit(store, row(3, state="FAILED"), row(4, **final), row(5, same_as="t004", **final))
    compact(store)
    assert len(read_manifest(store).segments) == 2
    return commit(store, row(7))


def counts_of(store):
    return {row[:3]: row[3:] for row in Reader(store.folder).counts().iter_rows()}


def counted_by_hand(store):
    counts, trained, last = Counter(), Counter(), {}
    for trial in Reader(store.folder).trials().collect().iter_rows(named=True):
        key = trial["search"], trial["stage"], trial["state"]
        counts[key] += 1
        trained[key] += trial["same_as"] is None
        last[key] = max(last.get(key, 0), trial["index"])
    return {key: (number, trained[key], last[key]) for key, number in counts.items()}


def without_rows(store):
    """The segments hold no Parquet any more."""
    for segment in read_manifest(store).segments:
        segment.path.write_bytes(bytes(segment.path.stat().st_size))


def test_trials_are_counted_as_in_their_rows(store):
    assert counts_of(store) == counted_by_hand(store)
    assert sum(number for number, _, _ in counts_of(store).values()) == 7


def test_an_empty_study_has_no_counts(tmp_path):
    assert Reader(new_store(tmp_path).folder).counts().is_empty()


def test_of_compacted_trials_no_row_is_read(store):
    counts = counts_of(store)
    without_rows(store)
    assert counts_of(store) == counts
    with pytest.raises(CorruptFileError, match="not a readable Parquet"):
        check_store(store)


def test_counts_follow_trials_that_are_withdrawn(store):
    withdraw_trials(store, {"t003": "s1"})
    assert counts_of(store) == counted_by_hand(store)
    assert check_store(store) == 6
    without_rows(store)
    assert ("s1", "search", "FAILED") not in counts_of(store)


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_segment_of_another_size_is_named(store, is_missing):
    segment = read_manifest(store).segments[0]
    content = segment.path.read_bytes()
    segment.path.write_bytes(content[:-1])
    if is_missing:
        segment.path.unlink()
    message = rf"{segment.path.name} has {0 if is_missing else len(content) - 1} bytes; "
    with pytest.raises(CorruptFileError, match=message):
        counts_of(store)
    segment.path.write_bytes(content)
    assert counts_of(store) == counted_by_hand(store)


def truncated(file):
    file.write_bytes(file.read_bytes()[:-20])


def of_others(file):
    write_checksummed(file, {"counts": {}})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.unlink(), r"counts\.json is missing, and the manifest names it"),
        (truncated, r"counts\.json is not valid JSON"),
        (of_others, r"counts\.json does not match its checksum there, and the manifest"),
    ],
)
def test_damaged_counts_are_named_by_all_who_need_them_and_cost_no_trial(store, damage, message):
    rows = Reader(store.folder).trials().collect()
    (file, *_) = sorted(store.segments.glob("*.counts.json"))
    whole = file.read_bytes()
    damage(file)
    for use in (check_store, counts_of):
        with pytest.raises(CorruptFileError, match=message):
            use(store)
    assert Reader(store.folder).trials().collect().equals(rows)
    file.write_bytes(whole)
    assert check_store(store) == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": [9]}, "holds other counts than its segment has rows"),
        ({"trials": ["many"]}, "does not hold counts of trials"),
        ({"trials": [None]}, "holds counts with nothing in them"),
        ({"state": None}, "does not hold counts of trials|nothing in them"),
        ({"trials": [1, 2, 3]}, "does not hold counts of trials"),
    ],
)
def test_counts_that_are_not_those_of_the_rows_are_named(tmp_path, change, message):
    store = commit(new_store(tmp_path), row(0), row(2))
    compact(store)
    (segment,) = read_manifest(store).segments
    counts = Reader(store.folder).counts().to_dict(as_series=False)
    num_bytes = segment.path.stat().st_size
    write_checksummed(segment.counts_file, {"bytes": num_bytes, "counts": {**counts, **change}})
    checksum = pl.read_json(segment.counts_file)["sha256"].item()
    entry = {
        "file": f"trials_segments/{segment.path.name}",
        "level": 0,
        "trials": 2,
        "listing": segment.checksum,
        "columns": segment.columns,
        "counts": checksum,
    }
    change_json(store.manifest, segments=[entry])
    with pytest.raises(CorruptFileError, match=message):
        check_store(store)

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.results.storage.checksummed_text import write_checksummed
from orchestrator.results.trial_files import segment_trials
from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results.trial_files.withdraw_trials import withdraw_trials
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    WIDER,
    change_json,
    change_listing,
    commit,
    new_store,
    row,
)


@pytest.fixture
def store_of_four(tmp_path):
    return commit(new_store(tmp_path), *(row(index) for index in range(4)))


def test_a_sound_store_is_counted_before_and_after_compaction(store_of_four):
    assert check_store(store_of_four) == 4
    compact(store_of_four)
    assert check_store(store_of_four) == 4
    commit(store_of_four, row(4))
    assert check_store(store_of_four) == 5


def test_an_empty_store_is_sound(tmp_path):
    assert check_store(new_store(tmp_path)) == 0


def victim(store):
    return store.trial("s1", "t003")


def truncated(store, size):
    path = victim(store)
    path.write_bytes(path.read_bytes()[:size])


def flipped(store):
    path = victim(store)
    data = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(0).column(0)
    data[column.data_page_offset + column.total_compressed_size - 1] ^= 1
    path.write_bytes(data)


def renamed(store):
    victim(store).rename(store.trial("s1", "t009"))


def moved(store):
    target = store.trial("s0", "t003")
    victim(store).rename(target)


def foreign_columns(store):
    pq.write_table(pa.table({"a": [1]}), victim(store))


def foreign_types(store):
    table = pq.read_table(victim(store), partitioning=None)
    index = table.schema.get_field_index("index")
    pq.write_table(table.set_column(index, "index", pa.array([1.5])), victim(store))


def lacking(store):
    table = pq.read_table(victim(store), partitioning=None)
    pq.write_table(table.drop_columns(["state"]), victim(store))


def two_rows(store):
    table = pq.read_table(victim(store), partitioning=None)
    pq.write_table(pa.concat_tables([table, table]), victim(store))


def no_rows(store):
    pq.write_table(SCHEMA.empty_table(), victim(store))


def other_study(store):
    table = pq.read_table(victim(store), partitioning=None)
    index = table.schema.get_field_index("study")
    pq.write_table(table.set_column(index, "study", pa.array(["other"])), victim(store))


DAMAGES = {
    "empty": (lambda store: truncated(store, 0), "t003.parquet is not a readable Parquet file"),
    "truncated": (lambda store: truncated(store, 900), "t003.parquet is not a readable Parquet"),
    "text": (lambda store: victim(store).write_text("hello world!"), "t003.parquet is not a"),
    "flipped bit": (flipped, "t003.parquet is damaged: its content does not match its SHA-256"),
    "renamed": (renamed, "t009.parquet holds a row with trial_id 't003'; at that path it must"),
    "moved": (moved, "t003.parquet holds a row with search 's1'; at that path it must be 's0'"),
    "foreign": (foreign_columns, "t003.parquet has the column 'a', unknown to its study"),
    "types": (foreign_types, "t003.parquet: column 'index' is double, its study says int32"),
    "lacking": (lacking, "t003.parquet lacks the column 'state'"),
    "two rows": (two_rows, "t003.parquet must hold one row, it has 2"),
    "no rows": (no_rows, "t003.parquet holds no rows|t003.parquet must hold one row, it has 0"),
    "other study": (other_study, "row with study 'other'; at that path it must be 'tiny'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_or_foreign_file_is_named_and_never_compacted(store_of_four, name):
    damage, message = DAMAGES[name]
    damage(store_of_four)
    with pytest.raises(CorruptFileError, match=message):
        check_store(store_of_four)
    before = sorted(store_of_four.folder.rglob("*.parquet"))
    with pytest.raises(CorruptFileError, match=message):
        compact(store_of_four)
    assert sorted(store_of_four.folder.rglob("*.parquet")) == before


@pytest.mark.parametrize("name", DAMAGES)
def test_reading_a_damaged_or_foreign_file_names_it(store_of_four, name):
    damage, message = DAMAGES[name]
    damage(store_of_four)
    with pytest.raises(CorruptFileError, match=message):
        Reader(store_of_four.folder).trials().collect()
    with pytest.raises(CorruptFileError, match=message):
        Reader(store_of_four.folder).decisions()


def test_all_problems_are_reported_at_once_up_to_ten(tmp_path):
    store = commit(new_store(tmp_path), *(row(index) for index in range(13)))
    for path in store.trials.rglob("*.parquet"):
        path.write_bytes(b"")
    with pytest.raises(CorruptFileError, match="and 3 more files") as raised:
        check_store(store)
    assert str(raised.value).count(".parquet is not a readable Parquet file") == 10


def test_one_trial_in_two_searches_is_reported(store_of_four):
    shutil.copy(victim(store_of_four), store_of_four.trial("s0", "t003"))
    with pytest.raises(CorruptFileError, match=r"s1/t003\.parquet is a second file of one trial"):
        check_store(store_of_four)


def test_a_compacted_file_that_is_missing_or_damaged_is_named(store_of_four):
    compact(store_of_four)
    (path,) = store_of_four.segments.glob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    for read in (check_store, lambda paths: Reader(paths.folder).trials().collect()):
        with pytest.raises(CorruptFileError, match=rf"{path.name} is not a readable Parquet"):
            read(store_of_four)
    path.unlink()
    for read in (check_store, lambda paths: Reader(paths.folder).trials().collect()):
        with pytest.raises(CorruptFileError, match=rf"{path.name} is not a readable .*No such"):
            read(store_of_four)


def test_a_segment_with_other_trials_than_its_listing_is_named(store_of_four):
    compact(store_of_four)
    change_listing(store_of_four, {"s0": ["t000", "t002"], "s1": ["t001", "t007"]})
    with pytest.raises(CorruptFileError, match="does not hold the trials that the listing"):
        check_store(store_of_four)


def missing_listing(listing):
    listing.unlink()


def truncated_listing(listing):
    listing.write_bytes(listing.read_bytes()[:-20])


def changed_listing(listing):
    listing.write_bytes(listing.read_bytes().replace(b"t000", b"t009"))


def listing_of_others(listing):
    write_checksummed(listing, {"trials": {"s0": ["t000", "t002"], "s1": ["t001"]}})


DAMAGED_LISTINGS = {
    "missing": (missing_listing, r"trials\.json is missing, and the manifest names it"),
    "truncated": (truncated_listing, r"trials\.json is not valid JSON"),
    "changed": (changed_listing, r"trials\.json was changed after it was written"),
    "of others": (listing_of_others, r"trials\.json is not the listing that the manifest"),
}


@pytest.mark.parametrize("name", DAMAGED_LISTINGS)
def test_a_damaged_listing_is_named_by_all_who_need_it_and_costs_no_trial(store_of_four, name):
    compact(store_of_four)
    (listing,) = store_of_four.segments.glob("*.trials.json")
    whole = listing.read_bytes()
    damage, message = DAMAGED_LISTINGS[name]
    damage(listing)
    with pytest.raises(CorruptFileError, match=message):
        check_store(store_of_four)  # also where the process has read the listing before
    segment_trials._known.clear()
    for use in (
        compact,
        lambda paths: Reader(paths.folder).trials().collect(),
        lambda paths: commit_trial(paths, SCHEMA, row(0)),
        lambda paths: withdraw_trials(paths, {"t000": "s0"}),
    ):
        with pytest.raises(CorruptFileError, match=message):
            use(store_of_four)
    listing.write_bytes(whole)
    assert check_store(store_of_four) == 4


@pytest.mark.parametrize(
    ("searches", "message"),
    [
        ({"s0": ["t000", "t000"]}, "lists trial t000 twice"),
        ({"s0": ["t000"], "s1": ["t000"]}, "lists trial t000 twice"),
        ({"s0": "t000"}, "is not a listing: it must hold the trials of searches"),
        (["t000"], "is not a listing"),
        ({"s0": [7]}, "names 7, which is not a file name"),
    ],
)
def test_a_listing_that_podium_cannot_have_written_is_named(store_of_four, searches, message):
    compact(store_of_four)
    change_listing(store_of_four, searches)
    with pytest.raises(CorruptFileError, match=message):
        check_store(store_of_four)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"segments": {}}, "is not a manifest: each of its segments must hold file, level"),
        ({"segments": [{}]}, "is not a manifest"),
        ({"version": 4}, "is of version 4; this podium reads version 3"),
    ],
)
def test_a_manifest_that_podium_cannot_have_written_is_named(store_of_four, values, message):
    compact(store_of_four)
    change_json(store_of_four.manifest, **values)
    with pytest.raises(CorruptFileError, match=message):
        check_store(store_of_four)


def test_a_manifest_that_counts_other_trials_than_the_listing_is_named(store_of_four):
    compact(store_of_four)
    (entry,) = json.loads(store_of_four.manifest.read_text())["segments"]
    change_json(store_of_four.manifest, segments=[{**entry, "trials": 5}])
    with pytest.raises(CorruptFileError, match="lists 4 trials; the manifest says 5"):
        check_store(store_of_four)


def test_a_trial_in_two_segments_is_named_by_all_who_count(store_of_four):
    compact(store_of_four)
    (file,) = store_of_four.segments.glob("*.parquet")
    (entry,) = json.loads(store_of_four.manifest.read_text())["segments"]
    for name in (file.name, file.with_suffix(".trials.json").name):
        shutil.copy(store_of_four.segments / name, store_of_four.segments / f"again{name}")
    again = {**entry, "file": f"trials_segments/again{file.name}"}
    change_json(store_of_four.manifest, segments=[entry, again])
    assert read_manifest(store_of_four).next_number == 2, "a name of another kind has no number"
    for count in (check_store, lambda paths: Reader(paths.folder).trials().collect()):
        with pytest.raises(CorruptFileError, match="hold trial t000 twice: restore the manifest"):
            count(store_of_four)
    change_json(store_of_four.manifest, segments=[entry, entry])
    with pytest.raises(CorruptFileError, match="names a segment twice"):
        check_store(store_of_four)


def test_a_compacted_file_of_another_study_is_named(store_of_four):
    compact(store_of_four)
    change_json(store_of_four.store, study="other")
    with pytest.raises(CorruptFileError, match="holds rows of the study 'tiny', not 'other'"):
        check_store(store_of_four)


def test_a_lost_manifest_is_reported_and_costs_no_trial(store_of_four):
    compact(store_of_four)
    (path,) = store_of_four.segments.glob("*.parquet")
    store_of_four.manifest.unlink()
    message = (
        rf"{path.name} holds 4 trials found nowhere else, and .*manifest\.json does not name it"
    )
    with pytest.raises(CorruptFileError, match=message):
        check_store(store_of_four)
    commit(store_of_four, row(9))
    with pytest.raises(CorruptFileError, match=message):
        compact(store_of_four)
    assert path.exists()


@pytest.mark.parametrize("text", ["{", "{}", '{"file": 3, "trials": {}}'])
def test_a_damaged_manifest_is_named(store_of_four, text):
    compact(store_of_four)
    store_of_four.manifest.write_text(text)
    message = r"manifest\.json is (not valid JSON|of version None; this podium reads version 3)"
    with pytest.raises(CorruptFileError, match=message):
        Reader(store_of_four.folder).trials().collect()


def test_files_from_before_the_study_grew_are_sound(tmp_path):
    old = commit(new_store(tmp_path), row(0))
    grown = new_store(tmp_path, WIDER)
    commit(grown, row(1, WIDER), schema=WIDER)
    assert old == grown
    assert check_store(grown) == 2

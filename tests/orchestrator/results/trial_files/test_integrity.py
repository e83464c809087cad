import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.results.trial_files.gather_trials import gather_all
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.reader import Reader
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    WIDER,
    commit,
    new_store,
    rewrite,
    row,
)


@pytest.fixture
def store_of_four(tmp_path):
    return commit(new_store(tmp_path), *(row(index) for index in range(4)))


def test_a_sound_store_is_counted_before_and_after_gathering(store_of_four):
    assert check_store(store_of_four) == 4
    gather_all(store_of_four)
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
    rewrite(victim(store), pa.table({"a": [1]}))


def foreign_types(store):
    table = pq.read_table(victim(store), partitioning=None)
    index = table.schema.get_field_index("index")
    rewrite(victim(store), table.set_column(index, "index", pa.array([1.5])))


def lacking(store):
    table = pq.read_table(victim(store), partitioning=None)
    rewrite(victim(store), table.drop_columns(["state"]))


def two_rows(store):
    table = pq.read_table(victim(store), partitioning=None)
    rewrite(victim(store), pa.concat_tables([table, table]))


def no_rows(store):
    rewrite(victim(store), SCHEMA.empty_table())


def other_study(store):
    table = pq.read_table(victim(store), partitioning=None)
    index = table.schema.get_field_index("study")
    rewrite(victim(store), table.set_column(index, "study", pa.array(["other"])))


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
    "two rows": (two_rows, "t003.parquet must hold 1 rows, it has 2"),
    "no rows": (no_rows, "t003.parquet holds no rows|t003.parquet must hold 1 rows, it has 0"),
    "other study": (other_study, "row with study 'other'; at that path it must be 'tiny'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_or_foreign_file_is_named_and_never_gathered(store_of_four, name):
    damage, message = DAMAGES[name]
    damage(store_of_four)
    reader = Reader(store_of_four.folder)
    for use in (lambda: check_store(store_of_four), reader.trials().collect, reader.decisions):
        with pytest.raises(CorruptFileError, match=message):
            use()
    with pytest.raises(CorruptFileError, match=message) as raised:
        gather_all(store_of_four)
    damaged = Path(str(raised.value).split(":")[0].split(" ")[0])
    assert damaged.exists()
    assert list(damaged.parent.glob("*.gathered.parquet")) == []


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


def test_files_from_before_the_study_grew_are_sound(tmp_path):
    old = commit(new_store(tmp_path), row(0))
    grown = new_store(tmp_path, WIDER)
    commit(grown, row(1, WIDER), schema=WIDER)
    assert old == grown
    assert check_store(grown) == 2

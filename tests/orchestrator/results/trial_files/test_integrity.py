"""Files that are damaged, or hold what does not belong there, are named by all who read them."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.trial_files import integrity
from podium.orchestrator.results.trial_files.commit_trials import copy_trials
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.integrity import check_store
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_frames import LONG
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, rewrite, row


@pytest.fixture
def store_of_four(tmp_path):
    return commit(new_store(tmp_path), *(row(index) for index in range(4)))


def victim(store):
    return store.trial("s1", "t003")


def truncated(store, size):
    victim(store).write_bytes(victim(store).read_bytes()[:size])


def flipped(store):
    data = bytearray(victim(store).read_bytes())
    column = pq.read_metadata(victim(store)).row_group(0).column(0)
    data[column.data_page_offset + column.total_compressed_size - 1] ^= 1
    victim(store).write_bytes(data)


def changed(change):
    """Other rows in the file, with a checksum that fits them."""

    def damage(store):
        rewrite(victim(store), change(pq.ParquetFile(victim(store)).read()))

    return damage


def with_column(name, values):
    def change(table):
        return table.set_column(table.column_names.index(name), name, values)

    return changed(change)


DAMAGES = {
    "truncated": (lambda store: truncated(store, 900), "t003.parquet is not a readable Parquet"),
    "flipped bit": (flipped, "t003.parquet is damaged: its content does not match its SHA-256"),
    "renamed": (
        lambda store: victim(store).rename(store.trial("s1", "t009")),
        "t009.parquet holds a row with trial_id 't003'; at that path it must be 't009'",
    ),
    "copied": (
        lambda store: shutil.copy(store.trial("s1", "t001"), victim(store)),
        "t003.parquet holds a row with trial_id 't001'; at that path it must be 't003'",
    ),
    "moved": (
        lambda store: victim(store).rename(store.trial("s0", "t003")),
        "t003.parquet holds a row with search 's1'; at that path it must be 's0'",
    ),
    "foreign": (
        changed(lambda _: pa.table({"a": [1]})),
        "t003.parquet has the column 'a', unknown to its study",
    ),
    "types": (
        with_column("index", pa.array([1.5])),
        "t003.parquet: column 'index' is double, its study says int32",
    ),
    "lacking": (
        changed(lambda table: table.drop_columns(["state"])),
        "t003.parquet lacks the column 'state'",
    ),
    "two rows": (
        changed(lambda table: pa.concat_tables([table, table])),
        "t003.parquet must hold 1 rows, it has 2",
    ),
    "other study": (
        with_column("study", pa.array(["other"])),
        "t003.parquet holds a row with study 'other'; at that path it must be 'tiny'",
    ),
}

READERS = {
    **{name: lambda reader, name=name: getattr(reader, name)().collect() for name in LONG},
    "trials": lambda reader: reader.trials().collect(),
    "count": lambda reader: reader.trials().select("objective").collect(),
    "decisions": lambda reader: reader.decisions(),
    "ended trials": lambda reader: reader.ended_trials(),
    "summary": lambda reader: reader.summarise(lambda rows: rows.select("objective")),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_or_foreign_file_is_named_by_every_reader_and_never_gathered(
    store_of_four, name
):
    damage, message = DAMAGES[name]
    assert check_store(store_of_four) == 4
    damage(store_of_four)
    for read in READERS.values():
        with pytest.raises(CorruptFileError, match=message):
            read(Reader(store_of_four.folder))
    with pytest.raises(CorruptFileError, match=message):
        check_store(store_of_four)
    with pytest.raises(CorruptFileError, match=message) as raised:
        gather_all(store_of_four)
    damaged = Path(str(raised.value).split(":")[0].split(" ")[0])
    assert damaged.exists()
    assert list(damaged.parent.glob("*.gathered.parquet")) == []


def test_a_foreign_row_is_not_copied_to_another_search(store_of_four):
    damage, message = DAMAGES["other study"]
    damage(store_of_four)
    copy = {"same_as": "t003", "trial_id": "t009", "search": "s0"}
    with pytest.raises(CorruptFileError, match=message):
        copy_trials(store_of_four, SCHEMA, "s1", [copy])
    assert not store_of_four.trial("s0", "t009").exists()


def test_many_rows_in_the_file_of_one_trial_are_refused_before_any_is_decoded(
    store_of_four, monkeypatch
):
    changed(lambda table: table.take(pa.array([0] * 50)))(store_of_four)
    monkeypatch.setattr(integrity, "scan", None)
    with pytest.raises(CorruptFileError, match=r"t003\.parquet must hold 1 rows, it has 50"):
        integrity.open_rows([victim(store_of_four)], read_store(store_of_four))


def test_a_file_is_checked_once_and_new_ones_when_they_come(store_of_four, monkeypatch):
    reader, real, checked = Reader(store_of_four.folder), integrity.ParquetFile, []

    def counted(file):
        checked.append(file.stem)
        return real(file)

    monkeypatch.setattr(integrity, "ParquetFile", counted)
    assert len(reader.trials().collect()) == 4
    assert len(reader.scores().collect()) > 4
    assert sorted(checked) == ["t000", "t001", "t002", "t003"]
    shutil.copy(victim(store_of_four), store_of_four.trial("s0", "t004"))
    for _ in range(2):
        with pytest.raises(CorruptFileError, match=r"t004\.parquet holds a row with search 's1'"):
            reader.trials().collect()


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

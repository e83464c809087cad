"""Files that are damaged, or hold what does not belong there, are named by all who read them."""

import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.trial_files import inventory
from podium.orchestrator.results.trial_files.commit_trials import copy_trials
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_frames import LONG
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    check_store,
    commit,
    gathered_file,
    new_store,
    rewrite,
    rewrite_gathered,
    row,
)


@pytest.fixture
def store_of_four(tmp_path):
    return commit(new_store(tmp_path), *(row(index) for index in range(4)))


def victim(store):
    return store.trial("s1", "t003")


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
    "truncated": (
        lambda store: victim(store).write_bytes(victim(store).read_bytes()[:900]),
        "t003.parquet is not a readable Parquet",
    ),
    "flipped bit": (flipped, "t003.parquet is damaged: its content does not match its SHA-256"),
    "renamed": (
        lambda store: victim(store).rename(store.trial("s1", "t009")),
        "t009.parquet holds a row with trial_id 't003'; at that path it must be 't009'",
    ),
    "moved": (
        lambda store: victim(store).rename(store.trial("s0", "t003")),
        "t003.parquet holds a row with search 's1'; at that path it must be 's0'",
    ),
    "in two searches": (
        lambda store: shutil.copy(victim(store), store.trial("s0", "t003")),
        r"t003\.parquet (is a second file of one trial|holds a row with search 's1')",
    ),
    "foreign": (
        changed(lambda _: pa.table({"a": [1]})),
        "t003.parquet: its study has no such columns, or others: a, attempts",
    ),
    "types": (
        with_column("index", pa.array([1.5])),
        "t003.parquet: its study has no such columns, or others: index",
    ),
    "lacking": (
        changed(lambda table: table.drop_columns(["state"])),
        "t003.parquet: its study has no such columns, or others: state",
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


def test_a_file_is_checked_once_and_new_ones_when_they_come(store_of_four, monkeypatch):
    reader, real, checked = Reader(store_of_four.folder), inventory.verified, []

    def counted(file):
        checked.append(file.stem)
        return real(file)

    monkeypatch.setattr(inventory, "verified", counted)
    assert len(reader.trials().collect()) == 4
    assert len(reader.scores().collect()) > 4
    assert sorted(checked) == ["t000", "t001", "t002", "t003"]
    shutil.copy(victim(store_of_four), store_of_four.trial("s0", "t004"))
    for _ in range(2):
        with pytest.raises(CorruptFileError, match=r"t004\.parquet holds a row with search 's1'"):
            reader.trials().collect()


@pytest.fixture
def gathered(store_of_four):
    """The gathered file of search ``s0``, which has trials 0 and 2."""
    gather_all(store_of_four)
    return gathered_file(store_of_four, "s0")


def assert_named(store, message):
    """All who read the store say so."""
    for read in (check_store, lambda paths: Reader(paths.folder).trials().collect()):
        with pytest.raises(CorruptFileError, match=message):
            read(store)


def with_values(column, *values):
    def change(rows):
        place = rows.column_names.index(column)
        return rows.set_column(place, SCHEMA.field(column), pa.array(values, pa.string()))

    return change


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (with_values("study", "tiny", "other"), "holds a row with study 'other'; at that"),
        (with_values("study", "tiny", None), "holds a row with study None; at that"),
        (with_values("search", "s0", "s1"), "with search 's1'; at that path it must be"),
        (with_values("trial_id", "t000", "t000"), "holds a trial twice"),
        (
            with_values("trial_id", "t000", "../t"),
            "with trial_id '../t', which is not a valid",
        ),
        (lambda rows: rows.slice(1), "must hold 2 rows, it has 1"),
    ],
)
def test_a_gathered_file_of_other_rows_is_named(store_of_four, gathered, change, rule):
    file = rewrite_gathered(gathered, change(pq.ParquetFile(gathered).read()), 2)
    assert_named(store_of_four, rf"^{file} .*{rule}")


def test_a_gathered_file_under_another_name_or_damaged_anywhere_is_named(store_of_four, gathered):
    whole = gathered.read_bytes()
    other = gathered.rename(gathered.with_name("2-0123456789abcdef.gathered.parquet"))
    assert_named(store_of_four, "its name belongs to other rows")
    other.unlink()
    gathered.write_bytes(whole[:-50])
    assert_named(store_of_four, f"{gathered} is damaged: its content does not match")
    for place in random.Random(3).sample(range(len(whole)), 40):
        gathered.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(CorruptFileError, match=gathered.name):
            check_store(store_of_four)

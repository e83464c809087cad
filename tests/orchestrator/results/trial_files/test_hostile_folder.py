"""A results folder made by an attacker: nothing outside of it is touched."""

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.errors import CorruptFileError, PodiumError, StoreError
from podium.orchestrator.results.records import checkpoint_files
from podium.orchestrator.results.records.study_snapshot import check_readable, read_study
from podium.orchestrator.results.storage.files import put
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    commit,
    gathered_file,
    new_store,
    rewrite_gathered,
    row,
)
from tests.orchestrator.small_study import STUDY

OUTSIDE = ("../../x", "/etc/x", "..", "a/b", ".hidden", "a\\b\n", "")


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("precious.parquet", ".precious.tmp", "precious.json"):
        (folder / name).write_text("precious")
    return folder


def _is_untouched(folder):
    return {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys(
        ("precious.parquet", ".precious.tmp", "precious.json"), "precious"
    )


@pytest.mark.parametrize("place", ["asks", "trials/search=s9", "checkpoints", "models"])
def test_nothing_behind_a_link_is_deleted(tmp_path, outside, place):
    paths = commit(new_store(tmp_path), row(0), row(1))
    link = paths.folder / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(CorruptFileError, match=f"{link} is a symbolic link"):
        gather_all(paths)
    with pytest.raises(PodiumError):
        check_readable(paths, STUDY.name)
    assert _is_untouched(outside)


def test_a_checkpoint_folder_that_is_a_link_is_not_followed(tmp_path, outside):
    paths = new_store(tmp_path)
    paths.checkpoint_folder("t000").parent.mkdir()
    paths.checkpoint_folder("t000").symlink_to(outside)
    with pytest.raises(StoreError, match="cannot delete"):
        checkpoint_files.delete(paths, "t000")
    assert _is_untouched(outside)


def test_a_file_that_is_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path, outside):
    paths = new_store(tmp_path)
    paths.report.symlink_to(outside / "precious.json")
    put(paths.report, b"report")
    assert paths.report.read_bytes() == b"report"
    assert not paths.report.is_symlink()
    assert _is_untouched(outside)


@pytest.mark.parametrize("column", ["loss", "block"])
@pytest.mark.parametrize("value", ["../../x\x1b", "a\nb", "\u202ea"])
def test_rows_with_names_that_are_none_are_not_read(tmp_path, column, value):
    paths = commit(new_store(tmp_path), row(0), row(1))
    gather_all(paths)
    file = gathered_file(paths, "s0")
    table = pq.ParquetFile(file).read()
    place = table.column_names.index(column)
    rewrite_gathered(file, table.set_column(place, SCHEMA.field(column), pa.array([value])))
    with pytest.raises(CorruptFileError, match=rf"whose {column} is .* which is not a valid name"):
        Reader(paths.folder).trials().collect()


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        "name: !!python/object/apply:os.system ['touch mark']",
        "name: !!python/name:os.system",
        "name: " + "[" * 20_000,
        "seed: " + "9" * 10_000,
    ],
    ids=["laughs", "call", "name", "depth", "digits"],
)
def test_a_study_snapshot_that_is_a_trap_is_refused_at_once(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    paths = new_store(tmp_path)
    paths.study.write_text(text)
    started = time.thread_time()
    with pytest.raises(CorruptFileError, match=r"study\.yaml"):
        read_study(paths)
    assert time.thread_time() - started < 5
    assert not (tmp_path / "mark").exists()

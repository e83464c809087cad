"""A results folder made by an attacker: nothing outside of it is touched."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.storage.files import put, remove
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


def test_a_checkpoint_that_is_a_link_is_not_followed(tmp_path, outside):
    paths = new_store(tmp_path)
    paths.checkpoints.mkdir()
    paths.checkpoint("t000").symlink_to(outside / "precious.json")
    remove(paths.checkpoint("t000"))
    assert _is_untouched(outside)


def test_a_file_that_is_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path, outside):
    paths = new_store(tmp_path)
    paths.report.symlink_to(outside / "precious.json")
    put(paths.report, b"report")
    assert paths.report.read_bytes() == b"report"
    assert not paths.report.is_symlink()
    assert _is_untouched(outside)


@pytest.mark.parametrize(
    ("column", "value"), [("loss", "../../x\x1b"), ("block", "a\nb"), ("loss", "\u202ea")]
)
def test_rows_with_names_that_are_none_are_not_read(tmp_path, column, value):
    paths = commit(new_store(tmp_path), row(0), row(1))
    gather_all(paths)
    file = gathered_file(paths, "s0")
    table = pq.ParquetFile(file).read()
    place = table.column_names.index(column)
    rewrite_gathered(file, table.set_column(place, SCHEMA.field(column), pa.array([value])))
    with pytest.raises(CorruptFileError, match=rf"whose {column} is .* which is not a valid name"):
        Reader(paths.folder).trials().collect()

"""Tables of Delta Lake, as polars reads them by the log that deltalake has."""

import sys
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.scores.delta_tables import write_delta_tables
from analysis.scores.flat_tables import TABLES, write_tables
from orchestrator.results.trial_files.reader import Reader
from orchestrator.study.study import StudyLoss
from podium.errors import CorruptFileError, PodiumError
from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here
from tests.podium.calling import call

deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    storage = tmp_path_factory.mktemp("storage")
    run_here(STUDY, storage)
    return storage / "small"


def rows_of(path, version=None):
    return pl.read_delta(str(path), version=version)


def assert_holds(path, expected, version=None):
    """Rows of a Delta table have no order."""
    assert_frame_equal(rows_of(path, version), expected, check_row_order=False, check_exact=True)


def test_each_table_is_that_of_the_reader(folder, tmp_path):
    written = write_delta_tables(Reader(folder), tmp_path)
    assert [path.name for path in written] == list(TABLES)
    for name, table in TABLES.items():
        assert_holds(tmp_path / name, table(Reader(folder)).collect())


def test_every_version_holds_each_trial_of_its_time_once(tmp_path):
    """A study is exported before it starts to end, in the middle, at its end, and grown."""
    lake, expected = tmp_path / "lake", []

    def export():
        reader = Reader(tmp_path / "small")
        write_delta_tables(reader, lake)
        expected.append(reader.trials().collect())

    for _ in range(3):
        run_here(STUDY, tmp_path, InterruptedAfter(25))
        export()
    run_here(STUDY, tmp_path)
    export()
    run_here(replace(STUDY, losses=(*STUDY.losses, StudyLoss("margin"))), tmp_path)
    export()
    export()
    assert len({len(rows) for rows in expected}) == 5
    assert "hp.beta" in set(expected[-1].columns) - set(expected[0].columns)
    for version, rows in enumerate(expected):
        assert rows_of(lake / "trials", version)["trial_id"].is_unique().all()
        assert_holds(lake / "trials", rows, version)


def test_a_damaged_trial_is_named_and_the_version_before_stays(folder, tmp_path):
    run_here(STUDY, tmp_path)
    write_delta_tables(Reader(folder), tmp_path / "lake")
    (file,) = (tmp_path / "small" / "trials_segments").glob("*.parquet")
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 255
    file.write_bytes(damaged)
    with pytest.raises(CorruptFileError, match=f"{file} is damaged"):
        write_delta_tables(Reader(tmp_path / "small"), tmp_path / "lake")
    assert deltalake.DeltaTable(tmp_path / "lake" / "trials").version() == 0
    assert_holds(tmp_path / "lake" / "trials", Reader(folder).trials().collect())


@pytest.mark.parametrize("own", ["file", "folder", "delta"])
def test_what_podium_did_not_write_is_not_overwritten(folder, tmp_path, own):
    theirs = tmp_path / "test_scores"
    if own == "file":
        theirs.write_text("precious")
    elif own == "folder":
        theirs.mkdir()
        (theirs / "precious").touch()
    else:
        deltalake.write_deltalake(theirs, pl.DataFrame({"precious": [1]}))
    with pytest.raises(PodiumError, match="test_scores is no table that podium wrote"):
        write_delta_tables(Reader(folder), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_scores"]


def test_a_table_that_cannot_be_written_is_one_clear_error(folder, tmp_path, capsys):
    log = tmp_path / "trials" / "_delta_log"
    write_delta_tables(Reader(folder), tmp_path)
    (log / "00000000000000000001.json").mkdir()  # the name of the next commit is taken
    called = call(capsys, "export", "delta", folder, "--output", tmp_path)
    assert called.code == 4
    assert f"{tmp_path / 'trials'} cannot be written" in called.err


def test_the_command_says_what_it_wrote(folder, tmp_path, capsys):
    called = call(capsys, "export", "delta", folder, "--output", tmp_path / "lake")
    assert called.code == 0
    assert f"Wrote {', '.join(TABLES)} to {tmp_path / 'lake'}." in called.out


def test_without_the_package_the_command_that_installs_it_is_said(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "deltalake", None)
    called = call(capsys, "export", "delta", folder, "--output", tmp_path / "lake")
    assert called.code == 2
    assert "pip install 'podium[delta]'" in called.err
    assert not (tmp_path / "lake").exists()


def test_flat_files_are_told_from_delta_tables(folder, tmp_path):
    """Both may be asked for in one folder: their names differ."""
    write_tables(Reader(folder), tmp_path, "parquet")
    write_delta_tables(Reader(folder), tmp_path)
    assert_holds(tmp_path / "trials", pl.read_parquet(tmp_path / "trials.parquet"))

"""Rows that do not belong where they lie, with right checksums: no reader takes them in."""

import shutil

import pyarrow as pa
import pytest

from orchestrator.results.trial_files import stored_rows
from orchestrator.results.trial_files.commit_trials import TrialCopy, copy_trials
from orchestrator.results.trial_files.gather_trials import gather_all
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.parquet_file import ParquetFile
from orchestrator.results.trial_files.reader import Reader
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_frames import LONG
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, rewrite, row

READERS = {
    **{name: lambda reader, name=name: getattr(reader, name)().collect() for name in LONG},
    "trials": lambda reader: reader.trials().collect(),
    "count": lambda reader: reader.trials().select("objective").collect(),
    "decisions": lambda reader: reader.decisions(),
}


@pytest.fixture
def paths(tmp_path):
    return commit(new_store(tmp_path), *(row(index) for index in range(4)))


@pytest.fixture
def other(tmp_path):
    """A store of another study with the same trials."""
    rows = (row(index, study="other", objective=9.0) for index in range(4))
    return commit(new_store(tmp_path, name="other"), *rows)


def refusals(paths):
    """What each reader says, and those that check whole stores."""
    for read in READERS.values():
        with pytest.raises(CorruptFileError) as raised:
            read(Reader(paths.folder))
        yield str(raised.value)
    for use in (check_store, gather_all):
        with pytest.raises(CorruptFileError) as raised:
            use(paths)
        yield str(raised.value)


def only(words):
    (word,) = set(words)
    return word


def test_a_row_of_another_study_is_refused_by_every_reader(paths, other):
    target = paths.trial("s1", "t003")
    shutil.copy(other.trial("s1", "t003"), target)
    assert only(refusals(paths)) == (
        f"{target} holds a row with study 'other'; at that path it must be 'tiny'"
    )


def test_a_row_under_the_id_of_another_trial_is_refused_by_every_reader(paths):
    target = paths.trial("s1", "t003")
    shutil.copy(paths.trial("s1", "t001"), target)
    assert only(refusals(paths)) == (
        f"{target} holds a row with trial_id 't001'; at that path it must be 't003'"
    )


def test_a_row_in_the_folder_of_another_search_is_refused_by_every_reader(paths):
    target = paths.trial("s0", "t003")
    paths.trial("s1", "t003").rename(target)
    assert only(refusals(paths)) == (
        f"{target} holds a row with search 's1'; at that path it must be 's0'"
    )


def test_two_rows_in_a_file_of_one_trial_are_refused_by_every_reader(paths):
    target = paths.trial("s1", "t003")
    (table,) = ParquetFile(target).groups()
    rewrite(target, pa.concat_tables([table, table]))
    assert only(refusals(paths)) == f"{target} must hold 1 rows, it has 2"


def test_a_file_is_checked_once_and_new_ones_when_they_come(paths, other, monkeypatch):
    reader, real, checked = Reader(paths.folder), stored_rows.open_trials, []
    monkeypatch.setattr(
        stored_rows,
        "open_trials",
        lambda file, *rest: checked.append(file.stem) or real(file, *rest),
    )
    assert len(reader.trials().collect()) == 4
    assert len(reader.scores().collect()) > 4
    assert sorted(checked) == ["t000", "t001", "t002", "t003"]
    shutil.copy(other.trial("s1", "t003"), paths.trial("s0", "t004"))
    for _ in range(2):
        with pytest.raises(
            CorruptFileError, match=r"t004\.parquet holds a row with study 'other'"
        ):
            reader.trials().collect()


def test_a_foreign_row_is_not_copied_to_another_search(paths, other):
    target = paths.trial("s1", "t003")
    shutil.copy(other.trial("s1", "t003"), target)
    copy = TrialCopy(trial_id="t003", search="s1", identity={"trial_id": "t009", "search": "s0"})
    with pytest.raises(CorruptFileError, match=r"t003\.parquet holds a row with study 'other'"):
        copy_trials(paths, SCHEMA, [copy])
    assert not paths.trial("s0", "t009").exists()

"""What lies in a results folder besides podium's files: it is named, or refused."""

import os
import shutil

import pytest

from podium.errors import PodiumError
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.damaged_stores import a_file, a_place, copy_of, problems, run

FILES = (
    *("store.json", "study.json", "provenance.json", "trials/*/*.parquet"),
    *("journal/*/000001.jsonl", "runs/000001.json"),
)
KEPT = ("trials/*/*.gathered.parquet", "models/*.safetensors", "embeddings/*.safetensors")
FOLDERS = (
    *("trials", "journal", "runs", "checkpoints"),
    *("trials/*", "journal/*"),
)


def read_everything(paths):
    reader = Reader(paths.folder)
    reader.trials().collect()
    reader.attempts().collect()
    read_asks(paths)


def assert_refused(paths, tmp_path):
    """Neither a run nor a gathering begins, and nothing changes."""
    before = sorted(path.relative_to(paths.folder) for path in paths.folder.rglob("*"))
    for command in (lambda: run(tmp_path), lambda: gather_all(paths)):
        with pytest.raises(PodiumError, match="is a symbolic link") as refused:
            command()
        assert refused.value.exit_code == 2
    assert sorted(path.relative_to(paths.folder) for path in paths.folder.rglob("*")) == before


@pytest.mark.parametrize("pattern", [*FILES, *KEPT])
@pytest.mark.parametrize("trap", ["endless", "copy", "pipe", "folder"])
def test_what_is_no_file_of_its_own_is_named_and_never_read(
    interrupted, finished, tmp_path, pattern, trap
):
    paths = copy_of(interrupted if pattern in FILES else finished, tmp_path)
    file = a_file(paths, pattern)
    whole = tmp_path / "whole"
    file.rename(whole)
    match trap:
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case _:
            file.symlink_to("/dev/zero" if trap == "endless" else whole)
    assert str(file) in problems(paths.folder)


@pytest.mark.parametrize("pattern", FOLDERS)
def test_every_link_is_named_at_any_depth_and_refused_before_anything_changes(
    interrupted, tmp_path, pattern
):
    paths = copy_of(interrupted, tmp_path)
    folder, deep = a_file(paths, pattern), paths.folder / "code" / "a" / "b"
    outside = tmp_path / "outside"
    (folder / ".what a killed writer left.tmp").touch()
    folder.rename(outside)
    folder.symlink_to(outside)
    deep.mkdir(parents=True)
    (deep / "c").symlink_to(tmp_path)
    before = sorted(outside.rglob("*"))
    found = problems(paths.folder).splitlines()
    assert len(found) == 2
    for link, line in zip(sorted([folder, deep / "c"]), sorted(found), strict=True):
        assert f"{link}: must be a file or a folder" in line
    assert_refused(paths, tmp_path)
    assert sorted(outside.rglob("*")) == before
    with pytest.raises(PodiumError, match="is a symbolic link"):
        read_everything(paths)


def test_the_folder_itself_may_be_a_link(interrupted, tmp_path):
    copy_of(interrupted, tmp_path / "elsewhere")
    (tmp_path / "small").symlink_to(tmp_path / "elsewhere" / "small")
    assert problems(tmp_path / "small") == ""
    assert not run(tmp_path).interrupted


def test_a_name_that_would_forge_a_line_is_one_line_of_verify(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    a_place(paths, "trials/*/x\nNo problems.parquet").touch()
    (line,) = problems(paths.folder).splitlines()
    assert line.isprintable()


def test_a_parquet_file_that_plain_readers_would_count_is_a_problem(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    trial = a_file(paths, "trials/*/*.parquet")
    for place in ("mine.parquet", "export/t.parquet", "trials/t.parquet", "trials/a/b/t.parquet"):
        (paths.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(trial, paths.folder / place)
        assert f"{place}: no Parquet file but those of trials" in problems(paths.folder)
        (paths.folder / place).unlink()
    assert problems(paths.folder) == ""


def test_what_a_user_keeps_there_is_no_problem(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    kept = ("notes.txt", "journal/a.txt", "trials/a.txt", "code/x.py", ".git/HEAD", "lock/1.json~")
    for name in kept:
        (paths.folder / name).parent.mkdir(exist_ok=True)
        (paths.folder / name).write_text("mine")
    assert problems(paths.folder) == ""

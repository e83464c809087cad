"""An archive holds a study whole: every file, byte for byte, and no report changes."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from analysis.report.report import study_page
from orchestrator.results_tools import archive_study as module
from orchestrator.results_tools.archive_study import archive_study
from orchestrator.results_tools.stored_studies import stored_study
from podium.errors import CorruptFileError, PodiumError
from tests.orchestrator.results.locking import held_by_another_process


def _bytes_of(folder):
    """The content of every file but those of locks, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith((".", "lock"))
    }


def _unpacked(file, folder):
    folder.mkdir()
    subprocess.run(["tar", "xf", file, "-C", folder], check=True)
    return folder


def test_what_tar_unpacks_is_the_study_byte_for_byte(study, tmp_path):
    archive = archive_study(study, tmp_path / "small.tar.gz")
    unpacked = _unpacked(archive.file, tmp_path / "there") / study.name
    assert _bytes_of(unpacked) == _bytes_of(study)
    assert archive.num_files == len(_bytes_of(study))
    assert study_page(unpacked) == study_page(study)
    assert stored_study(unpacked).state == "complete"


def test_archives_of_one_folder_are_the_same_bytes(study, tmp_path):
    first = archive_study(study, tmp_path / "a.tar.gz")
    second = archive_study(study, tmp_path / "b.tar.gz")
    assert first.sha256 == second.sha256
    assert first.file.read_bytes() == second.file.read_bytes()


def test_members_are_files_below_the_studys_name_without_locks_and_leftovers(study, tmp_path):
    (study / "asks" / ".half.0123456789abcdef.tmp").write_text("half")
    with held_by_another_process(study):
        pass
    archive = archive_study(study, tmp_path / "small.tar.gz")
    with tarfile.open(archive.file) as opened:
        members = opened.getmembers()
    assert all(member.isreg() and member.name.startswith("small/") for member in members)
    names = [Path(member.name).name for member in members]
    assert not any(name.startswith((".", "lock")) for name in names)


def test_a_remote_study_is_archived_as_the_same_study_on_a_disk(study, remote_study, tmp_path):
    here = archive_study(study, tmp_path / "here.tar.gz")
    there = archive_study(remote_study, tmp_path / "there.tar.gz")
    assert there.num_files == here.num_files
    assert _bytes_of(_unpacked(there.file, tmp_path / "there")) == _bytes_of(
        _unpacked(here.file, tmp_path / "here")
    )


def test_an_archive_that_does_not_hold_what_was_written_is_refused(study, tmp_path, monkeypatch):
    add = tarfile.TarFile.addfile

    def with_another_byte(archive, member, content):
        damaged = bytearray(content.read())
        damaged[0] ^= 1
        add(archive, member, io.BytesIO(damaged))

    monkeypatch.setattr(tarfile.TarFile, "addfile", with_another_byte)
    with pytest.raises(CorruptFileError, match=r"does not hold what was written: \d+ files"):
        archive_study(study, tmp_path / "small.tar.gz")


def test_an_archive_that_lost_its_end_is_refused(study, tmp_path):
    file = tmp_path / "small.tar.gz"
    archive_study(study, file)
    written = {f"small/{path}": "0" * 64 for path in _bytes_of(study)}
    with pytest.raises(CorruptFileError, match="does not hold what was written"):
        module._verify(file, written)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(CorruptFileError, match="cannot be read back"):
        module._verify(file, written)


def test_a_damaged_trial_is_not_archived(study, tmp_path):
    (file,) = study.glob("trials_segments/*.parquet")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(CorruptFileError):
        archive_study(study, tmp_path / "small.tar.gz")
    assert not (tmp_path / "small.tar.gz").exists()


def test_links_are_not_archived(study, tmp_path):
    (study / "models").symlink_to("/etc")
    with pytest.raises(CorruptFileError, match="symbolic link"):
        archive_study(study, tmp_path / "small.tar.gz")


@pytest.mark.parametrize(
    ("name", "problem"),
    [("small.zip", "must end in .tar.gz"), ("small/inside.tar.gz", "must not be in the folder")],
)
def test_a_bad_name_is_refused(study, name, problem):
    with pytest.raises(PodiumError, match=problem):
        archive_study(study, study.parent / name)

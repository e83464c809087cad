"""The commands about stored studies and caches: status, rm, archive, cache."""

import io
import json
import shutil
import subprocess
import sys

import pytest

from orchestrator.results.storage.files import put
from tests.orchestrator.results.locking import held_by_another_process
from tests.podium.calling import call, output_of


class Terminal(io.StringIO):
    """Standard input on which somebody types."""

    def isatty(self):
        return True


@pytest.fixture
def results(storage, tmp_path):
    """A copy of three studies, a folder that is none, and a damaged study."""
    copy = shutil.copytree(storage, tmp_path / "results")
    (copy / "photos").mkdir()
    shutil.copytree(copy / "tiny", copy / "torn")
    (copy / "torn" / "store.json").write_text("{")
    return copy


def test_the_list_names_every_folder_in_80_columns(results, capsys):
    out = output_of(capsys, "status", "--storage", results)
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["study", "state", "trials", "hours", "size", "changed"]
    names = [line.split()[0] for line in lines[1:6]]
    assert names == ["nothing", "photos", "tiny", "torn", "without"]
    assert "complete" in lines[3]
    assert "3/3" in lines[3]
    assert "photos: not podium's: it has no store.json" in out
    assert "torn: damaged: " in out


def test_the_list_is_printed_as_json_and_csv(results, capsys):
    found = json.loads(output_of(capsys, "status", "--storage", results, "--json"))
    assert [study["study"] for study in found if study["bytes"] is None] == ["photos"]
    assert output_of(capsys, "status", "--storage", results, "--csv").startswith(
        "study,folder,state,running_on,"
    )


def test_a_storage_that_is_not_there_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "got podium-results, which is none" in output_of(capsys, "status", code=2)


def test_rm_says_what_goes_and_asks(results, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    out = output_of(capsys, "rm", results / "tiny")
    assert "complete, 3 of 3 trials" in out
    assert "Nothing was removed." in out
    assert (results / "tiny" / "store.json").exists()
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert f"removed {results / 'tiny'}" in output_of(capsys, "rm", results / "tiny")
    assert not (results / "tiny").exists()
    assert (results / "without").exists()


def test_rm_without_a_terminal_needs_yes(results, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert "--yes answers it" in output_of(capsys, "rm", results / "tiny", code=2)
    output_of(capsys, "rm", results / "tiny", results / "without", "--yes")
    assert sorted(path.name for path in results.iterdir()) == ["nothing", "photos", "torn"]


def test_rm_refuses_all_where_one_may_not_go(results, capsys):
    with held_by_another_process(results / "without"):
        err = output_of(capsys, "rm", results / "tiny", results / "without", "--yes", code=4)
    assert "without is running on" in err
    assert "not a results folder of podium" in output_of(
        capsys, "rm", results / "tiny", results / "photos", "--yes", code=2
    )
    assert "not valid JSON" in output_of(capsys, "rm", results / "torn", "--yes", code=2)
    assert (results / "tiny" / "study.yaml").exists()


def test_an_archive_unpacked_gives_the_same_report_and_passes_verify(
    results, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    output_of(capsys, "report", results / "tiny")
    report = (results / "tiny" / "report.html").read_bytes()
    out = output_of(capsys, "archive", results / "tiny", "--remove", "--yes")
    assert "in tiny.tar.gz" in out
    assert not (results / "tiny").exists()
    subprocess.run(["tar", "xf", "tiny.tar.gz"], check=True)
    assert "No problems." in output_of(capsys, "verify", "tiny")
    assert (tmp_path / "tiny" / "report.html").read_bytes() == report
    output_of(capsys, "report", "tiny")
    assert (tmp_path / "tiny" / "report.html").read_bytes() == report


def test_archive_overwrites_nothing_and_removes_nothing_unless_told(results, tmp_path, capsys):
    file = tmp_path / "kept.tar.gz"
    output_of(capsys, "archive", results / "tiny", "--output", file)
    assert (results / "tiny" / "store.json").exists()
    before = file.read_bytes()
    err = output_of(capsys, "archive", results / "without", "--output", file, code=2)
    assert "is not overwritten" in err
    assert file.read_bytes() == before
    with held_by_another_process(results / "nothing"):
        err = output_of(
            capsys, "archive", results / "nothing", "--output", tmp_path / "n.tar.gz", code=4
        )
    assert "is locked" in err


def test_studies_on_s3_are_listed_archived_and_removed(results, bucket, tmp_path, capsys):
    folder = results / "tiny"
    for file in folder.rglob("*"):
        if file.is_file():
            put(bucket / "r" / "tiny" / file.relative_to(folder).as_posix(), file.read_bytes())
    (found,) = json.loads(output_of(capsys, "status", "--storage", bucket / "r", "--json"))
    assert (found["state"], found["trials"], found["planned"]) == ("complete", 3, 3)
    study, file = bucket / "r" / "tiny", tmp_path / "tiny.tar.gz"
    output_of(capsys, "archive", study, "--output", file)
    output_of(capsys, "rm", study, "--yes")
    assert "there are no studies in" in output_of(
        capsys, "status", "--storage", bucket / "r", code=2
    )
    subprocess.run(["tar", "xf", file, "-C", tmp_path], check=True)
    assert "No problems." in output_of(capsys, "verify", tmp_path / "tiny")


def test_caches_are_listed_and_emptied_after_a_question(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "podium" / "glyphs").mkdir(parents=True)
    file = tmp_path / "podium" / "glyphs" / "greek.npy"
    file.write_bytes(bytes(1_234_567))
    out = output_of(capsys, "cache")
    assert max(len(line) for line in out.splitlines()[1:]) <= 80
    assert "1.2 MB" in out
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    output_of(capsys, "cache", "--empty", "glyphs")
    assert file.exists()
    assert "1.2 MB freed" in output_of(capsys, "cache", "--empty", "all", "--yes")
    assert not file.exists()
    assert "must be one of resized" in output_of(capsys, "cache", "--empty", "letters", code=2)
    assert call(capsys, "cache", "--csv").out.startswith("cache,holds,folder,files,bytes,used_at")

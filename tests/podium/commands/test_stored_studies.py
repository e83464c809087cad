"""The studies of a storage, as `podium status` lists them."""

import json
import shutil

import pytest

from tests.podium.calling import output_of


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
    assert lines[0].split() == ["study", "state", "trials", "training", "size", "changed"]
    names = [line.split()[0] for line in lines[1:6]]
    assert names == ["nothing", "photos", "tiny", "torn", "without"]
    assert "complete" in lines[3]
    assert "4/4" in lines[3]
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
    said = output_of(capsys, "status", code=2)
    assert "no study has run here: there is no folder podium-results" in said

"""``podium verify`` as its users meet it."""

import json

import pytest

from tests.orchestrator.damaged_stores import a_file, copy_of, interrupted_store
from tests.podium.calling import call


@pytest.fixture(scope="module")
def interrupted_folder(tmp_path_factory):
    return interrupted_store(tmp_path_factory.mktemp("store"))


def test_a_sound_folder_is_counted_and_exits_with_0(interrupted_folder, capsys):
    called = call(capsys, "verify", interrupted_folder.folder)
    assert called.code == 0
    assert "Checked" in called.out
    assert " trials" in called.out
    assert called.out.endswith("No problems.\n")


@pytest.mark.parametrize(
    ("pattern", "becomes", "told"),
    [
        ("trials/*/*.parquet", "empty", " is not a readable Parquet file"),
        ("runs/*.json", "empty", " was changed"),
        ("study.json", "missing", " is missing: the study never started, or lost it"),
        ("provenance.json", "a folder", " is a folder"),
    ],
)
def test_a_damaged_file_is_named_once_and_exits_with_2(
    interrupted_folder, tmp_path, capsys, pattern, becomes, told
):
    paths = copy_of(interrupted_folder, tmp_path)
    file = a_file(paths, pattern)
    file.unlink()
    if becomes == "empty":
        file.touch()
    elif becomes == "a folder":
        file.mkdir()
    called = call(capsys, "verify", paths.folder)
    assert called.code == 2
    assert f"problem: {file}{told}" in called.out
    assert called.out.count(str(file)) == 1
    assert called.out.endswith("\n1 problem.\n")
    called = call(capsys, "verify", paths.folder, "--json")
    printed = json.loads(called.out)
    assert (called.code, printed["is_sound"], len(printed["problems"])) == (2, False, 1)
    assert f"{file}{told}" in printed["problems"][0]


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [("", 2, "is not a results folder of podium"), ("x" * 300, 4, "File name too long")],
)
def test_what_is_no_results_folder_is_reported_as_elsewhere(tmp_path, capsys, name, code, told):
    called = call(capsys, "verify", tmp_path / name)
    assert called.code == code
    assert told in called.err

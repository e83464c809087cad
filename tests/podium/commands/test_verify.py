"""``podium verify`` as its users meet it."""

import json

import pytest

from tests.orchestrator.damaged_stores import a_file, copy_of, interrupted_store
from tests.podium.calling import call


@pytest.fixture(scope="module")
def interrupted_folder(tmp_path_factory):
    return interrupted_store(tmp_path_factory.mktemp("store"))


def test_a_sound_folder_is_counted_and_exits_with_0(interrupted_folder, capsys):
    called = call(capsys, "verify", interrupted_folder.folder, "--replay")
    assert called.code == 0
    assert "Checked" in called.out
    assert " trials" in called.out
    assert "1 searches replayed" in called.out
    assert called.out.endswith("No problems.\n")


def test_a_damaged_file_is_named_and_exits_with_2(interrupted_folder, tmp_path, capsys):
    paths = copy_of(interrupted_folder, tmp_path)
    file = a_file(paths, "trials/*/*.parquet")
    file.write_bytes(b"")
    called = call(capsys, "verify", paths.folder)
    assert called.code == 2
    assert f"problem: {file}: " in called.out
    assert "Restore the original file" in called.out


def test_a_damaged_account_is_named_whole(interrupted_folder, tmp_path, capsys):
    paths = copy_of(interrupted_folder, tmp_path)
    account = a_file(paths, "runs/*.json")
    account.write_bytes(b"")
    called = call(capsys, "verify", paths.folder)
    assert f"problem: {account}: is not valid JSON" in called.out
    assert called.out.endswith("\n1 problem.\n")


def test_a_missing_study_is_reported_once(interrupted_folder, tmp_path, capsys):
    paths = copy_of(interrupted_folder, tmp_path)
    paths.study.unlink()
    called = call(capsys, "verify", paths.folder)
    assert called.out.count(str(paths.study)) == 1
    assert f"problem: {paths.study}: is missing. Restore" in called.out


def test_json_tells_file_rule_value_and_advice(interrupted_folder, tmp_path, capsys):
    paths = copy_of(interrupted_folder, tmp_path)
    a_file(paths, "asks/*/000001.json").write_text("{")
    called = call(capsys, "verify", paths.folder, "--json")
    printed = json.loads(called.out)
    assert called.code == 2
    assert printed["is_sound"] is False
    assert printed["checked"]["asks"] >= 2
    assert printed["problems"][0].keys() == {"file", "rule", "value", "advice"}
    assert printed["problems"][0]["file"].endswith("000001.json")


def test_what_is_no_results_folder_is_reported_as_elsewhere(tmp_path, capsys):
    called = call(capsys, "verify", tmp_path)
    assert called.code == 2
    assert "is not a results folder of podium" in called.err


def test_a_folder_in_place_of_a_file_is_a_problem(interrupted_folder, tmp_path, capsys):
    paths = copy_of(interrupted_folder, tmp_path)
    paths.store.unlink()
    paths.store.mkdir()
    called = call(capsys, "verify", paths.folder)
    assert called.code == 2
    assert f"{paths.store}: must be a file; it is a folder" in called.out


def test_a_store_that_cannot_be_read_exits_with_4(tmp_path, capsys):
    called = call(capsys, "verify", tmp_path / ("x" * 300))
    assert called.code == 4
    assert "File name too long" in called.err

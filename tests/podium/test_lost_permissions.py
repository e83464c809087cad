"""Permissions that are missing, or lost during a run: one line, nothing counted, nothing lost."""

import time

import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.store_paths import StudyPaths
from tests.orchestrator.small_study import STUDY, tables
from tests.podium.calling import podium
from tests.podium.real_runs import TINY_STUDY
from tests.podium.warm_process import Started


@pytest.mark.parametrize(
    ("place", "command"), [("store", "status"), ("trials", "verify"), ("trials", "report")]
)
def test_what_may_not_be_read_is_named_and_not_left_out(finished_study, command, place, tmp_path):
    place = getattr(StudyPaths(finished_study), place)
    output = ("--output", tmp_path / "x.html") if command == "report" else ()
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        called = podium(command, finished_study, *output, cwd=tmp_path, is_mighty=False)
    finally:
        place.chmod(mode)
    assert called.returncode == 4, called.stderr
    assert called.stderr.startswith("podium: cannot ")
    assert "Permission denied" in called.stderr
    assert place.name in called.stderr
    assert "Traceback" not in called.stderr
    assert called.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_entered_is_named(tmp_path):
    tmp_path.chmod(0)
    try:
        called = podium("plan", tmp_path / "results", cwd="/", is_mighty=False)
    finally:
        tmp_path.chmod(0o700)
    assert called.returncode == 4
    assert called.stderr == f"podium: cannot use {tmp_path / 'results'}: Permission denied\n"


def test_a_run_whose_permission_is_lost_stops_and_is_continued_to_equal_tables(tmp_path):
    file, folder = tmp_path / "tiny.yaml", tmp_path / "lost" / STUDY.name
    file.write_text(TINY_STUDY)
    words = ("run", file, "--local", "--no-report", "--storage")
    running = Started(*words, folder.parent, cwd=tmp_path, is_mighty=False)
    while not list(folder.glob("trials/*/*.parquet")):
        time.sleep(0.02)
    places = [folder / "trials", *folder.glob("trials/*/")]
    for place in places:
        place.chmod(0o500)
    ended = running.end()
    for place in places:
        place.chmod(0o700)
    assert ended.returncode == 4, ended.stderr
    assert "Permission denied" in ended.stderr
    assert "Traceback" not in ended.stderr

    for storage in (folder.parent, tmp_path / "undisturbed"):
        assert podium(*words, storage, cwd=tmp_path).returncode == 0
    assert podium("verify", folder, cwd=tmp_path).stdout.endswith("No problems.\n")
    assert_frame_equal(tables(folder.parent), tables(tmp_path / "undisturbed"))

"""Permissions that are missing, or lost during a run: one line, nothing counted, nothing lost."""

from itertools import product

import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.store_paths import StudyPaths
from tests.orchestrator.small_study import STUDY, tables
from tests.podium.calling import podium
from tests.podium.real_runs import TINY_STUDY, as_ordinary_user, ended, run_with_first_trial
from tests.soak import soak

# A store and trials that may not be read; what other readers do with them is for the soak.
UNREADABLE = [("store", "status"), ("trials", "verify"), ("trials", "report")]
OTHERS = product(("store", "trials"), ("verify", "status", "report", "tournament"))


def called(*arguments):
    return ended(as_ordinary_user(*arguments))


def assert_refused(call, place):
    assert call.returncode == 4, call.stderr
    assert call.stderr.startswith("podium: cannot ")
    assert "Permission denied" in call.stderr
    assert place.name in call.stderr
    assert "Traceback" not in call.stderr
    assert call.stdout == ""


@pytest.mark.parametrize(
    ("place", "command"),
    [*UNREADABLE, *(pytest.param(*it, marks=pytest.mark.soak) for it in OTHERS)],
)
def test_what_may_not_be_read_is_named_and_not_left_out(finished_study, command, place, tmp_path):
    place = getattr(StudyPaths(finished_study), place)
    output = ("--output", tmp_path / "x.html") if command == "report" else ()
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        call = called(command, finished_study, *output)
    finally:
        place.chmod(mode)
    assert_refused(call, place)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["plan", *soak("report", "verify")])
def test_a_folder_that_cannot_be_entered_is_named(tmp_path, command):
    tmp_path.chmod(0)
    try:
        call = called(command, tmp_path / "results")
    finally:
        tmp_path.chmod(0o700)
    assert call.returncode == 4
    assert call.stderr == f"podium: cannot use {tmp_path / 'results'}: Permission denied\n"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The tables of the study without that."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "tiny.yaml").write_text(TINY_STUDY)
    words = ("run", "tiny.yaml", "--local", "--no-report", "--storage", folder)
    assert podium(*words, cwd=folder).returncode == 0
    return tables(folder)


@pytest.mark.parametrize("name", ["trials", *soak(".", "journal", "runs")])
def test_a_run_whose_permission_is_lost_stops_and_is_continued_to_equal_tables(
    undisturbed, tmp_path, name
):
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY_STUDY)
    words = ("run", file, "--local", "--no-report", "--storage")
    folder = tmp_path / "lost" / STUDY.name
    running = run_with_first_trial(as_ordinary_user(*words, folder.parent), folder)
    places = [place for place in (folder / name, *(folder / name).glob("*/")) if place.is_dir()]
    for place in places:
        place.chmod(0o500)
    printed = running.communicate(timeout=280)[0]
    for place in places:
        place.chmod(0o700)
    assert running.returncode == 4, printed
    assert "Permission denied" in printed
    assert "Traceback" not in printed

    assert podium(*words, folder.parent, cwd=tmp_path).returncode == 0
    assert podium("verify", folder, cwd=tmp_path).stdout.endswith("No problems.\n")
    assert_frame_equal(tables(folder.parent), undisturbed)

"""What a killed run leaves in the temporary folder: the next deletes that, and nothing else."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.executors.private_folders import (
    PrivateFolder,
    remove_folders_of_dead_runs,
)
from tests.orchestrator.drive_small_study import SMALLER, drive, wait_for_commits
from tests.orchestrator.driven import gone
from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.small_study import run_here, tables

HOLDS_A_FOLDER = """
import sys
from podium.orchestrator.executors.private_folders import PrivateFolder
folder = PrivateFolder()
(folder.path / "below").mkdir()
(folder.path / "below" / "file").touch()
print(folder.path, flush=True)
sys.stdin.read()
folder.remove()
"""


@pytest.fixture
def root(monkeypatch):
    """In place of the temporary folder; its name is short because names of sockets must be."""
    folder = tempfile.mkdtemp(prefix="t", dir="/tmp")
    monkeypatch.setenv("RAY_TMPDIR", folder)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def holder(root):
    """A process that holds a private folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_FOLDER],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_the_folder_of_a_killed_run_is_deleted_by_the_next(holder, root):
    process, _ = holder
    process.kill()
    process.wait()
    with InProcessExecutor():
        assert list(root.iterdir()) == []


def test_the_folder_of_a_living_run_stays_until_it_ends(holder):
    process, folder = holder
    process.send_signal(signal.SIGSTOP)
    remove_folders_of_dead_runs()
    assert (folder / "below" / "file").exists()
    process.send_signal(signal.SIGCONT)
    process.communicate()
    assert not folder.exists()


def test_what_only_has_such_a_name_stays(root, tmp_path):
    """Each as podium's own but for one thing, with a file that a deletion would take."""
    others = [root / f"podium-another{number}" for number in range(6)]
    for folder in others:
        folder.mkdir(mode=0o700)
        (folder / "in-use.lock").touch()
        (folder / "file").touch()
    (others[0] / "in-use.lock").unlink()
    others[1].chmod(0o755)
    shutil.move(others[2], tmp_path / "away")
    others[2].symlink_to(tmp_path / "away")
    shutil.move(others[3] / "in-use.lock", tmp_path / "lock")
    (others[3] / "in-use.lock").symlink_to(tmp_path / "lock")
    others[4] = others[4].rename(root / "podium-of-someone")
    (others[5] / "in-use.lock").unlink()
    (others[5] / "in-use.lock").mkdir()
    file = root / "podium-is_a_file"
    file.touch()
    remove_folders_of_dead_runs()
    assert all((folder / "file").exists() for folder in others)
    assert file.exists()


def test_links_in_the_folder_of_a_killed_run_are_not_followed(holder, root, tmp_path):
    process, folder = holder
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (folder / "link").symlink_to(tmp_path / "kept")
    (folder / "below" / "link").symlink_to(tmp_path / "kept" / "file")
    process.kill()
    process.wait()
    remove_folders_of_dead_runs()
    assert list(root.iterdir()) == []
    assert (tmp_path / "kept" / "file").exists()


def test_processes_that_a_killed_run_left_end_and_those_that_look_on_do_not(holder, root):
    process, folder = holder
    others = PrivateFolder()
    tokens = (folder / "token", others.path / "token", folder / "token")
    sleeping = [
        subprocess.Popen(["sleep", "600"], env={**os.environ, "RAY_AUTH_TOKEN_PATH": str(token)})
        for token in tokens[:2]
    ]
    reader = subprocess.Popen(["tail", "-f", str(folder / "below" / "file")])
    process.kill()
    process.wait()
    remove_folders_of_dead_runs()
    try:
        assert gone(sleeping[0].pid, 10)
        assert sleeping[1].poll() is None
        assert reader.poll() is None
    finally:
        for left in (*sleeping, reader):
            left.kill()
            left.wait()
        others.remove()
    assert list(root.iterdir()) == []


@pytest.mark.ray
@pytest.mark.filterwarnings("default")
def test_after_a_killed_driver_the_next_ends_what_is_left_of_its_ray_and_finishes_the_study(
    root, tmp_path
):
    with drive(tmp_path) as driver:
        wait_for_commits(tmp_path, 8, driver)
        left = set(root.iterdir())
        assert {path.name for folder in left for path in folder.iterdir()} >= {"token", "ray"}
        remove_folders_of_dead_runs()
        assert set(root.iterdir()) == left  # it lives
        below = psutil.Process(driver.pid).children(recursive=True)
        stopped = next(
            process for process in below if process.cmdline()[0] == "ray::RuntimeEnvAgent"
        )
        stopped.suspend()  # would not end by itself
        driver.kill()
    with drive(tmp_path) as driver:
        while left.issuperset(root.iterdir()):
            assert driver.poll() is None, driver.stdout.read()
            time.sleep(0.02)
        assert all(gone(process.pid, 10) for process in below)
        assert left.isdisjoint(root.iterdir())
        output, _ = driver.communicate(timeout=120)
    assert "finished" in output
    assert list(root.iterdir()) == []
    run_here(SMALLER, tmp_path / "undisturbed")
    assert_frame_equal(tables(tmp_path, SMALLER), tables(tmp_path / "undisturbed", SMALLER))

"""A results folder that is deleted or renamed in the middle of a run is not begun anew."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from podium.errors import StoreError
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.locks import study_lock
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.local_files import never_made_again
from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.run_small_study import TINY
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, tables
from tests.orchestrator.study_files import MINIMAL


def delete(folder):
    shutil.rmtree(folder)


def rename(folder):
    folder.rename(folder.with_name("elsewhere"))


def delete_its_storage(folder):
    shutil.rmtree(folder.parent)


def delete_what_makes_it_a_study_s(folder):
    (folder / "store.json").unlink()


VANISHING = (delete, rename, delete_its_storage, delete_what_makes_it_a_study_s)


class Vanishing:
    """Simulated training, before whose n-th report of all something happens to the folder."""

    def __init__(self, folder, reports, vanish):
        self.folder, self.left, self.vanish = folder, reports, vanish

    def __call__(self, settings, *, resume, save, keep):
        def saved(state):
            self.left -= 1
            if self.left == 0:
                self.vanish(self.folder)
            save(state)

        yield from simulated_trial(settings, resume=resume, save=saved)


def names_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("vanish", VANISHING)
def test_a_run_whose_folder_vanishes_ends_with_one_error_and_makes_nothing_of_it_again(
    tmp_path, vanish
):
    storage, said = tmp_path / "storage", []
    folder = storage / TINY.name

    def vanish_and_look(folder):
        vanish(folder)
        left.update(names_below(tmp_path))

    left: set[str] = set()
    executor = InProcessExecutor(Vanishing(folder, 15, vanish_and_look))
    with pytest.raises(StoreError, match=f"{folder} is gone") as refused:
        run_here(TINY, storage, executor, say=said.append)
    assert refused.value.exit_code == 4
    assert not [line for line in said if "gone" in line or "lock" in line]
    assert names_below(tmp_path) <= left


def test_a_folder_that_is_brought_back_is_continued_to_the_same_tables(tmp_path):
    folder = tmp_path / "storage" / TINY.name
    with pytest.raises(StoreError, match="Restore it, then run the same command to continue"):
        run_here(TINY, folder.parent, InProcessExecutor(Vanishing(folder, 15, rename)))
    folder.with_name("elsewhere").rename(folder)
    shutil.rmtree(folder / "lock")  # this process lives on
    run_here(TINY, folder.parent)
    run_here(TINY, tmp_path / "undisturbed")
    assert tables(folder.parent, TINY).equals(tables(tmp_path / "undisturbed", TINY))


def test_the_heartbeat_of_a_lock_makes_no_folder_again(tmp_path, monkeypatch):
    paths, said = StudyPaths(tmp_path / "study"), []
    monkeypatch.setattr(study_lock, "_HEARTBEAT_SECONDS", 0.01)
    lock = study_lock.StudyLock(paths, said.append)
    lock.__enter__()
    paths.store.touch()
    with never_made_again(paths.store):
        rename(paths.folder)
        lock._thread.join(timeout=30)
        lock.__exit__(StoreError, StoreError("gone"), None)
    assert not lock._thread.is_alive()
    assert said == []
    assert not paths.folder.exists()


@pytest.mark.ray
@pytest.mark.filterwarnings("default")
def test_a_command_whose_folder_vanishes_ends_with_one_message(tmp_path):
    file, folder = tmp_path / "x.yaml", tmp_path / "storage" / "x"
    every_epoch = "resources: {checkpoint_minutes: 0}\n"
    file.write_text(MINIMAL + "training: {epochs: 500}\nsearch: {trials: 4}\n" + every_epoch)
    command = [sys.executable, "-m", "podium", "run", file, "--storage", folder.parent]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not list(folder.glob("checkpoints/*.pt")):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGSTOP)  # so that no heartbeat writes into what is deleted
        while folder.exists():
            with suppress(OSError):  # a worker wrote a moment ago
                delete(folder)
        os.kill(process.pid, signal.SIGCONT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 4, errors
    (message,) = [line for line in errors.splitlines() if "gone" in line]
    assert message.startswith(f"podium: {folder} is gone")
    assert "Traceback" not in errors
    assert not folder.exists()

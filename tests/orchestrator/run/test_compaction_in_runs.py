"""Trials are compacted while a study runs; whoever is killed meanwhile, nothing is lost."""

import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from polars.testing import assert_frame_equal

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files import compaction_during_run
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.compaction_manifest import read_manifest, take_inventory
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.run import run_study as run_study_module
from podium.errors import StoreError
from tests.orchestrator.results.small_segments import make_segments_small
from tests.orchestrator.small_study import STUDY, run_here, tables


@pytest.fixture
def small_segments(monkeypatch):
    make_segments_small(monkeypatch.setattr)


def segments_at_the_end(monkeypatch):
    """Fills with what was compacted and what was loose when the run's own compaction began."""
    found = []

    def look(paths):
        inventory = take_inventory(paths)
        found.append((inventory.manifest.segments, len(inventory.loose)))
        return compact(paths)

    monkeypatch.setattr(run_study_module, "compact", look)
    return found


def test_a_run_compacts_its_trials_and_changes_no_row(tmp_path, monkeypatch):
    run_here(STUDY, tmp_path / "plain")
    (plain,) = read_manifest(StudyPaths(tmp_path / "plain" / STUDY.name)).segments
    make_segments_small(monkeypatch.setattr)
    found = segments_at_the_end(monkeypatch)
    run_here(STUDY, tmp_path / "small")
    ((segments, num_loose),) = found
    assert sum(segment.num_trials for segment in segments) + num_loose == plain.num_trials
    assert num_loose < plain.num_trials // 2, "most were compacted while the study ran"
    assert_frame_equal(tables(tmp_path / "small"), tables(tmp_path / "plain"))


def test_a_study_of_fewer_trials_than_a_segment_is_compacted_at_its_end(tmp_path, monkeypatch):
    found = segments_at_the_end(monkeypatch)
    run_here(STUDY, tmp_path)
    ((segments, num_loose),) = found
    assert segments == ()
    assert num_loose > 30


def test_an_error_in_the_thread_ends_the_run_and_the_same_command_continues(
    tmp_path, small_segments, monkeypatch
):
    with monkeypatch.context() as patch:

        def fail(*_):
            raise StoreError("the disk is on fire")

        patch.setattr(compaction_during_run, "compact_loose", fail)
        with pytest.raises(StoreError, match="the disk is on fire"):
            run_here(STUDY, tmp_path / "failed")
    run_here(STUDY, tmp_path / "failed")
    run_here(STUDY, tmp_path / "plain")
    assert_frame_equal(tables(tmp_path / "failed"), tables(tmp_path / "plain"))


def test_a_run_killed_while_it_compacts_is_continued_by_the_same_command(tmp_path, small_segments):
    run_here(STUDY, tmp_path / "plain")
    storage = tmp_path / "killed"
    paths, random = StudyPaths(storage / STUDY.name), Random(7)
    killed = 0
    for attempt in range(40):
        code = _run_until(storage, random.randrange(3, 60 + 20 * attempt))
        if code == 0:
            break
        assert code == -signal.SIGKILL
        killed += 1
        check_store(paths)
    assert code == 0
    assert killed >= 3
    assert_frame_equal(tables(storage), tables(tmp_path / "plain"))
    assert not paths.unfinished_compaction.exists()


def _run_until(storage, operation):
    """Run the small study, killed at an operation of its compaction; its exit code."""
    command = [sys.executable, "-m", "tests.orchestrator.run_until_compaction"]
    root = Path(__file__).parents[3]
    ended = subprocess.run([*command, storage, str(operation)], cwd=root, timeout=120, check=False)
    return ended.returncode

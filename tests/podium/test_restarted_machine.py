"""A machine that is started again between two parts of a run: its monotonic clock begins anew."""

import signal
import subprocess

import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.small_study import STUDY, tables
from tests.podium.calling import podium
from tests.podium.real_runs import TINY_STUDY, command, run_with_first_trial

YEARS_LATER = (
    "unshare",
    "-T",
    "--monotonic",
    "100000000",
    "--boottime",
    "100000000",
    "--fork",
    "--kill-child",
)


@pytest.fixture(autouse=True)
def _needs_time_namespaces():
    tried = subprocess.run([*YEARS_LATER, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"time namespaces are not allowed here: {tried.stderr.strip()}")


def test_a_run_is_continued_by_a_younger_clock_to_equal_tables_and_plausible_hours(tmp_path):
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY_STUDY)
    words = ("run", file, "--local", "--no-report", "--storage")
    folder = tmp_path / "moved" / STUDY.name
    running = run_with_first_trial([*YEARS_LATER, *command(*words, folder.parent)], folder)
    running.send_signal(signal.SIGKILL)  # unshare ends, and its process with it
    running.communicate(timeout=280)

    for storage in (folder.parent, tmp_path / "undisturbed"):
        assert podium(*words, storage, cwd=tmp_path).returncode == 0
    assert_frame_equal(tables(folder.parent), tables(tmp_path / "undisturbed"))
    assert podium("verify", folder, cwd=tmp_path).stdout.endswith("No problems.\n")
    spent = Reader(folder).spending().collect()
    assert spent["seconds"].min() > 0
    assert spent["seconds"].max() < 1_000

"""The batch scripts, run for real: only Slurm itself is stood in for, by `fake_slurm/`."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import psutil
import pytest

from tests.deploy.namespaces import NAMESPACES, needs_namespaces

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "deploy" / "slurm"
FAKE_SLURM = Path(__file__).with_name("fake_slurm")
JOB = 4711

STUDY = """
study: tiny
datasets: [{name: glyphs, script: greek, classes: 40, instances_per_class: 6}]
backbones: [conv_small]
embedding_dims: [8]
losses: [contrastive]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 8, early_stopping: none, max_concurrent: 2}
final: {seeds: 1}
training: {epochs: 2}
"""

every_script = pytest.mark.parametrize("script", ["podium.sbatch", "one-node.sbatch"])


def environment(folder, *first_on_path, **more):
    path = os.pathsep.join(
        map(str, (*first_on_path, FAKE_SLURM, Path(sys.executable).parent, os.environ["PATH"]))
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {
        **kept,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "FAKE_SLURM_LOG": str(folder / "slurm.log"),
        "SLURM_JOB_ID": str(JOB),
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "1",
        "PODIUM_HEAD_IP": "10.77.1.1",  # which the fake srun gives to the first node
        **more,
    }


def requeues(folder):
    log = folder / "slurm.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return lines.count(f"scontrol requeue {JOB}")


@every_script
def test_shellcheck_finds_nothing_in(script):
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    subprocess.run(["shellcheck", "--severity=warning", SCRIPTS / script], check=True)


@every_script
def test_slurm_is_asked_to_warn_the_script_itself_and_to_keep_the_log(script):
    text = (SCRIPTS / script).read_text()
    asked = {line.removeprefix("#SBATCH ") for line in text.splitlines() if "#SBATCH" in line}
    # B: only the script; without it Ray's own processes would die of the signal.
    assert {"--requeue", "--signal=B:USR1@180", "--open-mode=append"} <= asked


def stand_in(folder, name, text):
    """A program of this name, for how the script takes the ways in which it may end."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/usr/bin/env bash\n{text}\n")
    file.chmod(0o755)
    return folder


def run_with_stand_ins(tmp_path, script, podium, *, warn_after=None, **more):
    """The exit code of a job whose `podium run` is the shell text ``podium``."""
    programs = stand_in(tmp_path / "bin", "podium", podium)
    stand_in(programs, "ray", 'while [[ $1 != -- ]]; do shift; done; shift; exec "$@"')
    job = subprocess.Popen(
        ["bash", SCRIPTS / script, "study.yaml"],
        cwd=tmp_path,
        env=environment(tmp_path, programs, SLURM_JOB_NUM_NODES="1", **more),
    )
    if warn_after is not None:
        deadline = time.monotonic() + 30
        while not (tmp_path / warn_after).exists():
            assert time.monotonic() < deadline, "the stand-in did not start"
            time.sleep(0.02)
        job.send_signal(signal.SIGUSR1)
    return job.wait(timeout=60)


@every_script
@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_a_run_that_ended_by_itself_does_not_queue_again(tmp_path, script, code):
    assert run_with_stand_ins(tmp_path, script, f"exit {code}") == code
    assert requeues(tmp_path) == 0


WAITS = 'trap "exit 3" USR1; touch started; while :; do sleep 0.1; done'


@every_script
def test_a_warned_run_stops_and_queues_again(tmp_path, script):
    assert run_with_stand_ins(tmp_path, script, WAITS, warn_after="started") == 3
    assert requeues(tmp_path) == 1


@every_script
def test_a_cancelled_job_stays_cancelled(tmp_path, script):
    state = {"FAKE_SLURM_STATE": "COMPLETING"}
    assert run_with_stand_ins(tmp_path, script, WAITS, warn_after="started", **state) == 3
    assert requeues(tmp_path) == 0


@every_script
def test_a_warning_that_kills_a_driver_still_being_loaded_loses_nothing(tmp_path, script):
    loading = "touch started; exec sleep 30"
    assert run_with_stand_ins(tmp_path, script, loading, warn_after="started") == 3
    assert requeues(tmp_path) == 1


def test_the_head_is_named_by_an_address_that_other_nodes_reach(tmp_path):
    programs = stand_in(tmp_path / "bin", "ray", 'echo "$*" >asked')
    job = subprocess.run(
        ["bash", SCRIPTS / "podium.sbatch", "study.yaml"],
        cwd=tmp_path,
        env=environment(tmp_path, programs, SLURM_JOB_NUM_NODES="1", PODIUM_HEAD_IP=""),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert job.returncode == 5
    cards = [card for found in psutil.net_if_addrs().values() for card in found]
    here = {card.address for card in cards if card.family == socket.AF_INET}
    if all(address.startswith("127.") for address in here):
        assert "name one in PODIUM_HEAD_IP" in job.stderr
    else:
        words = (tmp_path / "asked").read_text().split()
        address = words[words.index("--address") + 1].partition(":")[0]
        assert address in here
        assert not address.startswith("127.")


@every_script
def test_without_a_study_the_job_ends_with_the_rule(tmp_path, script):
    job = subprocess.run(
        ["bash", SCRIPTS / script],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert job.returncode == 2
    assert "STUDY is missing" in job.stderr


def test_a_cluster_that_does_not_start_is_told_and_not_tried_for_ever(tmp_path):
    programs = stand_in(tmp_path / "bin", "ray", "exit 0")  # as symmetric-run does
    job = subprocess.run(
        ["bash", SCRIPTS / "podium.sbatch", "study.yaml"],
        cwd=tmp_path,
        env=environment(tmp_path, programs, SLURM_JOB_NUM_NODES="1"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert job.returncode == 5
    assert "the Ray cluster did not start" in job.stderr
    assert requeues(tmp_path) == 0


ASKS = """
import sys
from ray._raylet import GcsClient
print(GcsClient(address=sys.argv[1]).get_all_node_info())
"""


class Job:
    """A batch job in namespaces of its own, where `ray stop` reaches no other Ray."""

    def __init__(self, folder, script, *arguments, **more):
        inside = 'ip link set lo up; exec bash "$@"'
        self.output = (folder / "job.log").open("a")
        self._unshare = subprocess.Popen(
            [*NAMESPACES, "bash", "-c", inside, "job", str(SCRIPTS / script), *arguments],
            cwd=folder,
            env=environment(folder, **more),
            stdout=self.output,
            stderr=self.output,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._unshare.kill()
        self._unshare.wait()
        self.output.close()

    @property
    def is_running(self):
        return self._unshare.poll() is None

    @property
    def _batch(self):
        (batch,) = psutil.Process(self._unshare.pid).children()
        return batch

    def warn(self):
        """What Slurm does before the time limit."""
        self._batch.send_signal(signal.SIGUSR1)

    def ask_without_token(self):
        """What the head answers to somebody who reaches its port and has no token."""
        inside = ["nsenter", "--target", str(self._batch.pid), "--net", "--pid", "--mount"]
        asked = subprocess.run(
            [*inside, sys.executable, "-c", ASKS, f"10.77.1.1:{20000 + JOB}"],
            env={"PATH": os.environ["PATH"], "RAY_AUTH_MODE": "disabled"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return asked.stdout + asked.stderr

    def code(self):
        return self._unshare.wait(timeout=120)


def wait_for_a_trial(folder, job):
    deadline = time.monotonic() + 120
    while not list(folder.glob("results/tiny/trials/**/*.parquet")):
        assert job.is_running, (folder / "job.log").read_text()
        assert time.monotonic() < deadline, (folder / "job.log").read_text()
        time.sleep(0.02)


def trials(folder):
    return pl.read_parquet(f"{folder}/results/tiny/**/*.parquet")


def mode(file):
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.ray
def test_a_study_on_two_nodes_warned_of_the_time_limit_goes_on_in_the_next_start(tmp_path):
    needs_namespaces()
    (tmp_path / "tiny.yaml").write_text(STUDY)
    arguments = ("podium.sbatch", "tiny.yaml", "--storage", "results", "--no-report")
    with Job(tmp_path, *arguments) as job:
        wait_for_a_trial(tmp_path, job)
        job_folder = tmp_path / ".podium-slurm" / str(JOB)
        assert mode(job_folder) == 0o700
        assert mode(job_folder / "token") == 0o600
        assert mode(Path(f"/tmp/podium-{JOB}")) == 0o700
        assert "Unauthenticated" in job.ask_without_token()
        job.warn()
        log = tmp_path / "job.log"
        assert job.code() == 3, log.read_text()
    assert requeues(tmp_path) == 1
    assert not job_folder.exists()
    done = set(trials(tmp_path)["trial_id"])
    assert 0 < len(done) < 10  # 8 of the search, 1 final, 1 baseline

    with Job(tmp_path, *arguments) as job:
        assert job.code() == 0, log.read_text()
    assert requeues(tmp_path) == 1
    assert f"Continuing: {len(done)} of" in log.read_text()
    rows = trials(tmp_path)
    assert rows["trial_id"].n_unique() == len(rows)
    assert done <= set(rows["trial_id"])
    assert (rows["stage"] == "search").sum() == 8
    assert rows["node"].n_unique() == 2


def test_a_study_on_one_node_warned_of_the_time_limit_goes_on_in_the_next_start(tmp_path):
    (tmp_path / "tiny.yaml").write_text(STUDY)
    arguments = ("tiny.yaml", "--storage", "results", "--no-report", "--local")
    command = ["bash", SCRIPTS / "one-node.sbatch", *arguments]
    where = {"cwd": tmp_path, "env": environment(tmp_path)}
    with subprocess.Popen(command, **where) as job:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("results/tiny/trials/**/*.parquet")):
            assert time.monotonic() < deadline, "no trial was committed"
            time.sleep(0.02)
        job.send_signal(signal.SIGUSR1)
    assert job.returncode == 3
    assert requeues(tmp_path) == 1
    done = set(trials(tmp_path)["trial_id"])
    assert subprocess.run(command, **where, check=False).returncode == 0
    assert done < set(trials(tmp_path)["trial_id"])
    assert (trials(tmp_path)["stage"] == "search").sum() == 8

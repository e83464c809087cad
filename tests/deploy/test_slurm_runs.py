"""Whole studies under the batch scripts, warned of the time limit and started again."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import psutil
import pytest

from tests.deploy.batch_jobs import JOB, SCRIPTS, STUDY, environment, requeues
from tests.deploy.namespaces import NAMESPACES, needs_namespaces

HEAD_IP = "10.77.0.1"  # nodes reach it through any of the head's cards
A_TRIAL = "results/tiny/trials/**/*.parquet"
ASKS = """
import sys
from ray._raylet import GcsClient
print(GcsClient(address=sys.argv[1]).get_all_node_info())
"""

pytestmark = pytest.mark.timeout(900)  # several waits of 200 seconds


class Job:
    """A batch job in namespaces of its own, where `ray stop` reaches no other Ray."""

    def __init__(self, folder, script, *arguments, **more):
        inside = f'ip link set lo up; ip address add {HEAD_IP} dev lo; exec bash "$@"'
        self.output = (folder / "job.log").open("a")
        self._unshare = subprocess.Popen(
            [*NAMESPACES, "bash", "-c", inside, "job", str(SCRIPTS / script), *arguments],
            cwd=folder,
            env=environment(folder, PODIUM_NETWORK="lo", **more),
            stdout=self.output,
            stderr=self.output,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._unshare.kill()
        self._unshare.wait()
        self.output.close()
        shutil.rmtree(f"/tmp/podium-{JOB}", ignore_errors=True)  # the other node's mount held it

    @property
    def is_running(self):
        return self._unshare.poll() is None

    def processes(self):
        """What each process of the job waits for: the log does not say who hangs."""
        columns = ["ps", "-eo", "pid,ppid,etimes,stat,wchan:24,args"]
        asked = subprocess.run(columns, capture_output=True, text=True, check=True).stdout
        job = psutil.Process(self._unshare.pid)
        pids = {job.pid, *(child.pid for child in job.children(recursive=True))}
        lines = (line for line in asked.splitlines()[1:] if int(line.split()[0]) in pids)
        return "\n".join(lines)

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
            [*inside, sys.executable, "-c", ASKS, f"{HEAD_IP}:{20000 + JOB % 10000}"],
            env={"PATH": os.environ["PATH"], "RAY_AUTH_MODE": "disabled"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return asked.stdout + asked.stderr

    def code(self):
        try:
            return self._unshare.wait(timeout=400)
        except subprocess.TimeoutExpired:
            return "still running"


def wait_for(pattern, folder, job):
    deadline = time.monotonic() + 200
    while not list(folder.glob(pattern)):
        assert job.is_running, (folder / "job.log").read_text()
        assert time.monotonic() < deadline, (folder / "job.log").read_text() + job.processes()
        time.sleep(0.02)


def trials(folder):
    return pl.read_parquet(f"{folder}/results/tiny/**/*.parquet").unique("trial_id")


def mode(file):
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.ray
def test_a_study_on_two_nodes_warned_of_the_time_limit_goes_on_in_the_next_start(tmp_path):
    needs_namespaces()
    (tmp_path / "tiny.yaml").write_text(STUDY)
    arguments = ("podium.sbatch", "tiny.yaml", "--storage", "results", "--no-report")
    with Job(tmp_path, *arguments) as job:
        job_folder = tmp_path / ".podium-slurm" / str(JOB)
        wait_for(f".podium-slurm/{JOB}/driver", tmp_path, job)
        assert mode(job_folder) == 0o700
        assert mode(job_folder / "token") == 0o600
        assert mode(Path(f"/tmp/podium-{JOB}")) == 0o700
        assert "Unauthenticated" in job.ask_without_token()
        wait_for(A_TRIAL, tmp_path, job)
        job.warn()
        log = tmp_path / "job.log"
        assert job.code() == 3, log.read_text()
    assert requeues(tmp_path) == 1
    assert not job_folder.exists()
    done = set(trials(tmp_path)["trial_id"])
    assert 0 < len(done) < 14  # 12 of the search, 1 final, 1 baseline

    with Job(tmp_path, *arguments) as job:
        assert job.code() == 0, log.read_text()
    assert requeues(tmp_path) == 1
    assert f"Continuing: {len(done)} of" in log.read_text()
    rows = trials(tmp_path)
    assert rows["trial_id"].n_unique() == len(rows)
    assert done <= set(rows["trial_id"])
    assert (rows["stage"] == "search").sum() == 12
    assert rows["node"].n_unique() == 2


def test_a_study_on_one_node_warned_of_the_time_limit_goes_on_in_the_next_start(tmp_path):
    (tmp_path / "tiny.yaml").write_text(STUDY.replace("trials: 12", "trials: 3"))
    arguments = ("tiny.yaml", "--storage", "results", "--no-report", "--local")
    command = ["bash", SCRIPTS / "one-node.sbatch", *arguments]
    where = {"cwd": tmp_path, "env": environment(tmp_path)}
    with subprocess.Popen(command, **where) as job:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(A_TRIAL)):
            assert time.monotonic() < deadline, "no trial was committed"
            time.sleep(0.02)
        job.send_signal(signal.SIGUSR1)
    assert job.returncode == 3
    assert requeues(tmp_path) == 1
    done = set(trials(tmp_path)["trial_id"])
    assert subprocess.run(command, **where, check=False).returncode == 0
    assert done < set(trials(tmp_path)["trial_id"])
    assert (trials(tmp_path)["stage"] == "search").sum() == 3

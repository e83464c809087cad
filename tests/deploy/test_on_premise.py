"""`ray up` over real ssh, from a head to a worker, both in namespaces on this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.deploy.batch_jobs import STUDY
from tests.deploy.namespaces import NAMESPACES, needs_namespaces

pytestmark = [pytest.mark.ray, pytest.mark.soak]

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
SCENARIO = Path(__file__).with_name("on_premise.sh")


def launcher_file():
    """The file of the repository, for a head and a worker that exist here."""
    text = (ROOT / "deploy" / "on-premise" / "cluster.yaml").read_text()
    for there, here in {
        "192.0.2.10": "10.78.0.1",
        "[192.0.2.11, 192.0.2.12]": "[10.78.0.2]",
        "ssh_user: USER": "ssh_user: root",
        "workers: 2": "workers: 1",
        "/shared/podium/venv/bin": str(PROGRAMS),
    }.items():
        assert there in text
        text = text.replace(there, here)
    return text


def test_ray_up_starts_the_worker_over_ssh_and_a_study_trains_there(tmp_path):
    needs_namespaces()
    for program in ("/usr/sbin/sshd", "ssh", "rsync"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    (tmp_path / "launcher.yaml").write_text(launcher_file())
    (tmp_path / "study.yaml").write_text(STUDY)
    log = tmp_path / "log"
    with log.open("w") as output:
        ended = subprocess.run(
            [*NAMESPACES, "--uts", "bash", SCENARIO, tmp_path, PROGRAMS],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "dumb"},
            stdout=output,
            stderr=output,
            timeout=280,
            check=False,
        )
    assert ended.returncode == 0, log.read_text()
    trials = pl.read_parquet(f"{tmp_path}/results/tiny/**/*.parquet")
    assert (trials["stage"] == "search").sum() == 12
    assert set(trials["node"]) == {"worker"}  # the head takes no trials

"""How the batch scripts take each way in which a run may end. Studies: `test_slurm_runs.py`."""

import os
import shutil
import signal
import socket
import subprocess
import time

import psutil
import pytest

from tests.deploy.batch_jobs import SCRIPTS, environment, requeues

every_script = pytest.mark.parametrize("script", ["podium.sbatch", "one-node.sbatch"])


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


def with_an_address(tmp_path):
    """Programs by which any machine has an address that others would reach."""
    return stand_in(tmp_path / "bin", "hostname", "echo 192.0.2.7")


def run_with_stand_ins(tmp_path, script, podium, *, warn_after=None, **more):
    """The exit code of a job whose `podium run` is the shell text ``podium``."""
    programs = stand_in(with_an_address(tmp_path), "podium", podium)
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


def ended(tmp_path, *arguments, programs=(), script="podium.sbatch", **more):
    """A job that ended, with what it told."""
    return subprocess.run(
        ["bash", SCRIPTS / script, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path, *programs, SLURM_JOB_NUM_NODES="1", **more),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@every_script
@pytest.mark.parametrize("code", [0, 3])
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
    job = ended(tmp_path, "study.yaml", programs=[programs])
    assert job.returncode == 5
    cards = [card for found in psutil.net_if_addrs().values() for card in found]
    here = {card.address for card in cards if card.family == socket.AF_INET}
    if all(address.startswith("127.") for address in here):
        assert "in PODIUM_NETWORK" in job.stderr
    else:
        words = (tmp_path / "asked").read_text().split()
        address = words[words.index("--address") + 1].partition(":")[0]
        assert address in here
        assert not address.startswith("127.")


def test_a_network_card_is_looked_up_on_the_node_of_the_head(tmp_path):
    programs = stand_in(tmp_path / "bin", "ray", 'echo "$*" >asked')
    shown = "3: ib0    inet 192.0.2.9/24 brd 192.0.2.255 scope global ib0"
    stand_in(programs, "ip", f'[[ $* == *"dev ib0"* ]] && echo "{shown}"')
    for card, code, told in (("ib0", 5, "did not start"), ("ib1", 5, "in PODIUM_NETWORK")):
        job = ended(tmp_path, "study.yaml", programs=[programs], PODIUM_NETWORK=card)
        assert job.returncode == code
        assert told in job.stderr
    assert "--address 192.0.2.9:" in (tmp_path / "asked").read_text()


@every_script
def test_a_cache_folder_of_somebody_else_is_refused(tmp_path, script):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    (tmp_path / "cache").mkdir()
    os.chown(tmp_path / "cache", 12345, 12345)
    programs = stand_in(with_an_address(tmp_path), "podium", "touch ran")
    stand_in(programs, "ray", 'while [[ $1 != -- ]]; do shift; done; shift; exec "$@"')
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    job = ended(tmp_path, "study.yaml", programs=[programs], script=script, **cache)
    assert job.returncode in (2, 5)
    assert "is somebody else's; name another folder in XDG_CACHE_HOME" in job.stderr
    assert not (tmp_path / "ran").exists()


@every_script
def test_without_a_study_the_job_ends_with_the_rule(tmp_path, script):
    job = ended(tmp_path, script=script)
    assert job.returncode == 2
    assert "STUDY is missing" in job.stderr


def test_a_cluster_that_does_not_start_is_told_and_not_tried_for_ever(tmp_path):
    programs = stand_in(with_an_address(tmp_path), "ray", "exit 0")  # as symmetric-run does
    job = ended(tmp_path, "study.yaml", programs=[programs])
    assert job.returncode == 5
    assert "the Ray cluster did not start" in job.stderr
    assert requeues(tmp_path) == 0

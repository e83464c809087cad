"""A real cluster under fire: what is lost, why, what is killed, and how the driver ends."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from tests.orchestrator.drive_executor import Plan
from tests.orchestrator.driven import Driven, gone
from tests.orchestrator.ray_cluster import ROOT, RayCluster, strike

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def cluster():
    with RayCluster(nodes=1, cpus=8) as started:
        yield started


def on_the(cluster, folder, **plan) -> Driven:
    return Driven(Plan(folder=str(folder), address=cluster.address, **plan), cluster.environment)


def announce_end(cluster, node: int) -> None:
    """What an autoscaler says of a spot machine that is about to be taken away."""
    script = f"""
import time
from ray._raylet import GcsClient
client = GcsClient(address={cluster.address!r})
(node,) = (
    key for key, node in client.get_all_node_info(timeout=10).items()
    if node.node_manager_address == "127.0.0.{node + 1}"
)
assert client.drain_node(node.hex(), 2, "taken away", int(1000 * time.time()) + 1)[0]
"""
    subprocess.run([sys.executable, "-c", script], env=cluster.environment, check=True, timeout=60)


def at_a_time(events) -> list[int]:
    """How many trials ran after each of the events."""
    running, counts = set(), []
    for heard in events:
        if heard["event"] == "begun":
            running.add(heard["trial"])
        elif heard["event"] in ("ended", "lost"):
            running.discard(heard["trial"])
        counts.append(len(running))
    return counts


@pytest.fixture
def private():
    """The environment of drivers that have their own Ray."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield {**os.environ, "PYTHONPATH": str(ROOT), "RAY_TMPDIR": folder}


@pytest.fixture(scope="module")
def to_be_gone():
    """Processes of ended runs: Ray's own take up to a minute to end, while tests below run."""
    processes: list[psutil.Process] = []
    yield processes
    _, alive = psutil.wait_procs(processes, timeout=70)
    assert alive == []


def test_a_private_ray_that_loses_a_part_of_itself_ends_the_run_in_its_own_words(
    tmp_path, private, to_be_gone
):
    """Nothing would ever run there again, and nobody else could add a node or a head."""
    plan = Plan(folder=str(tmp_path), jobs={"a": "sleep"}, again={"a": "report 0.1"}, patience=3)
    with Driven(plan, private) as driven:
        driven.until("begun", "a")
        below = psutil.Process(driven.process.pid).children(recursive=True)
        to_be_gone += below
        (killed,) = (process for process in below if process.name() == "gcs_server")
        killed.kill()
        refused = driven.until("refused")
        assert driven.end() == 3
    assert refused["is_gone"]
    said = re.fullmatch(
        r"podium's own Ray ended: its gcs_server .*\. Finished trials are stored: run the same"
        r" command to continue\. Ray's logs stay until the next run, in (\S*)",
        refused["message"],
    )
    assert list(Path(said[1]).rglob("gcs_server.err"))
    assert driven.errors == [""]


def test_a_private_ray_of_which_a_part_dies_as_it_starts_ends_the_run_in_its_own_words(
    tmp_path, private, to_be_gone
):
    """Ray waits for a minute for a part that is dead, and then ends the process with a trace."""
    plan = Plan(folder=str(tmp_path), jobs={"a": "sleep"})
    with Driven(plan, private) as driven:
        driver = psutil.Process(driven.process.pid)
        while not (found := [it for it in driver.children() if it.name() == "raylet"]):
            assert driven.process.poll() is None
            time.sleep(0.001)
        to_be_gone += driver.children(recursive=True)
        found[0].kill()
        assert driven.end(40) == 3
        said = "".join(driven.errors) or driven.until("refused")["message"]
    assert "podium's own Ray ended: its raylet was ended by SIGKILL" in said
    assert "run the same command to continue" in said
    assert "Traceback" not in said


def test_losses_are_distinguished_and_slots_are_free_again(cluster, tmp_path):
    with on_the(
        cluster,
        tmp_path,
        jobs={
            "killed": "kill",
            "crashed": "crash",
            "stopped": "sleep",
            "spinning": "spin",
            "fills": "report 0.5",
            "alone": "report 0.1",
        },
        demands={"alone": (8, 0)},
        overdue={"stopped": 3.0, "spinning": 3.0},
        again={"killed": "report 0.1"},
    ) as driven:
        stopped = driven.pid("stopped")
        assert strike(stopped, signal.SIGSTOP)
        spinning = driven.pid("spinning")
        driven.until("finished", seconds=90)
        assert driven.end() == 0, driven.errors
    losses = {heard["trial"]: heard for heard in driven.events if heard["event"] == "lost"}
    assert {trial: loss["cause"] for trial, loss in losses.items()} == {
        "killed": "lost_worker",
        "crashed": "lost_worker",
        "stopped": "stuck",
        "spinning": "stuck",
    }
    assert len(driven.all_of("lost")) == 4  # each once
    assert (
        f"the process {driven.announced('crashed')['pid']} on 127.0.0."
        in (losses["crashed"]["message"])
    )
    assert gone(stopped, 10)
    assert gone(spinning, 10)
    # The one that needs all of a node came last, so all places were given back.
    assert driven.all_of("ended")[-1] == "alone"
    assert driven.all_of("ended").count("killed") == 1


def test_every_place_gets_its_process_however_short_trials_are(cluster, tmp_path):
    """A trial whose process is being started does not take that of another, which would end it."""
    jobs = {f"t{n:04}": "report 0.05" for n in range(2000)}
    demands = dict.fromkeys(jobs, (2, 0))  # four at a time
    with on_the(cluster, tmp_path, jobs=jobs, demands=demands, max_concurrent=4) as driven:
        processes = (driven.pid(trial) for trial in jobs)  # in the order of their starts
        seen: set[int] = set()
        while len(seen) < 4:  # which ends long before the trials, on a busy machine too
            seen.add(next(processes))


def test_a_process_in_which_memory_ran_out_runs_no_other_trial(cluster, tmp_path):
    whole = dict.fromkeys(("leaks", "after", "last"), (8, 0))  # one at a time
    jobs = {"leaks": "leak", "after": "report 0.1", "last": "report 0.1"}
    # Its nodes are asked for the results, too, and see them.
    with on_the(cluster, tmp_path, jobs=jobs, demands=whole, probed=True) as driven:
        driven.until("finished")
        assert driven.end() == 0
    assert driven.until("ended", "leaks")["cause"] == "out_of_host_memory"
    assert driven.all_of("ended") == list(jobs)
    assert driven.all_of("lost") == []
    assert driven.pid("leaks") != driven.pid("after") == driven.pid("last")


def test_a_node_that_dies_is_distinguished_from_one_that_was_taken_with_notice(cluster, tmp_path):
    first, second = cluster.add_node(cpus=1, gpus=1), cluster.add_node(cpus=1, gpus=1)
    with on_the(
        cluster,
        tmp_path,
        jobs={"a": "sleep", "b": "sleep", "c": "report 0.1"},
        demands={"a": (1, 1), "b": (1, 1)},
        again={"a": "report 0.1", "b": "report 0.1"},
    ) as driven:
        places = {cluster.node_of(driven.pid(trial)): trial for trial in ("a", "b")}
        assert set(places) == {first, second}
        cluster.kill_node(first)
        lost = driven.until("lost", places[first])
        assert lost["cause"] == "lost_node"
        assert "node 127.0.0." in lost["message"]
        announce_end(cluster, second)
        cluster.kill_node(second)
        assert driven.until("lost", places[second])["cause"] == "preempted"
        third = cluster.add_node(cpus=1, gpus=1)  # until then both wait
        driven.until("finished")
        assert driven.end() == 0
        cluster.kill_node(third)
        assert sorted(driven.all_of("ended")) == ["a", "b", "c"]


def test_trials_follow_the_cluster_as_it_grows_and_shrinks(cluster, tmp_path):
    """Of a cluster without GPUs at first: one trial waits, so that an autoscaler sees it."""
    jobs = {f"t{n}": "hold" for n in range(7)}
    with on_the(
        cluster,
        tmp_path,
        jobs=jobs,
        demands=dict.fromkeys(jobs, (0, 0.5)),
        again=dict.fromkeys(jobs, "report 1"),
    ) as driven:
        driven.until("handed out", "t0")
        first, _ = cluster.add_node(cpus=1, gpus=1), cluster.add_node(cpus=1, gpus=1)
        begun = driven.until_number(4, "begun")
        places = {trial: cluster.node_of(driven.pid(trial)) for trial in begun}
        assert {driven.announced(trial)["gpus"] for trial in begun} == {"0"}
        cluster.kill_node(first)
        lost = sorted(trial for trial, node in places.items() if node == first)
        assert len(lost) == 2
        assert {driven.until("lost", trial)["cause"] for trial in lost} == {"lost_node"}
        driven.release()
        driven.until("finished", seconds=90)
        assert driven.end() == 0
    assert sorted(driven.all_of("ended")) == sorted(jobs)
    assert sorted(driven.all_of("lost")) == lost
    running = at_a_time(driven.events)
    assert max(running) == 4
    last_lost = max(n for n, heard in enumerate(driven.events) if heard["event"] == "lost")
    assert max(running[last_lost:]) == 2


def test_nodes_that_do_not_see_the_results_are_refused_by_name(cluster, tmp_path):
    with on_the(cluster, tmp_path, jobs={"a": "report 0.1"}, probed=True, hidden=True) as driven:
        message = driven.until("refused")["message"]
        assert driven.end() == 4
    assert "cannot use the results" in message
    assert "- 127.0.0.2: nothing is there" in message


def test_a_head_that_hangs_ends_the_run_cleanly(cluster, tmp_path):
    """Last, because it ends the cluster; `test_attack_matrix` kills a head."""
    with on_the(cluster, tmp_path, jobs={"a": "report 600"}, patience=2) as driven:
        driven.until("begun", "a")
        strike(cluster.gcs_server, signal.SIGSTOP)
        refused = driven.until("refused", seconds=40)
        assert driven.end() == 3
        assert refused["is_gone"]
        assert f"the head of the Ray cluster at {cluster.address} is gone" in refused["message"]
        assert "run the same command" in refused["message"]
        assert not re.search("Traceback|Check failed|SIGABRT|\\*\\*\\*", "".join(driven.errors))

"""A worker that eats the memory of its machine, ended by Ray: wants a machine with much free."""

import psutil
import pytest

from tests.orchestrator.drive_executor import Plan
from tests.orchestrator.driven import Driven
from tests.orchestrator.ray_cluster import RayCluster

pytestmark = [pytest.mark.soak, pytest.mark.ray, pytest.mark.filterwarnings("default")]

ROOM_BYTES = 4 * 2**30


def test_a_worker_killed_for_memory_is_distinguished_from_one_that_died(tmp_path, monkeypatch):
    there = psutil.virtual_memory()
    threshold = (there.total - there.available + ROOM_BYTES) / there.total
    if threshold > 0.8:
        pytest.skip("too little memory is free to give some of it away")
    monkeypatch.setenv("RAY_memory_usage_threshold", f"{threshold:.3f}")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "50")
    with RayCluster(nodes=1, cpus=2) as cluster:
        plan = Plan(
            folder=str(tmp_path),
            address=cluster.address,
            jobs={"a": "eat", "b": "report 0.1"},
            again={"a": "report 0.1"},
        )
        with Driven(plan, cluster.environment) as driven:
            lost = driven.until("lost", "a")
            assert lost["cause"] == "killed_for_memory", lost
            assert "memory" in lost["message"]
            driven.until("finished")
            assert driven.end() == 0
            assert sorted(driven.all_of("ended")) == ["a", "b"]

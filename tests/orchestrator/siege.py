"""Attacks on a study that runs on a cluster: strikes one part of it in one phase, and mends.

What a person or a cluster manager would do is done after each attack: a driver that is gone is
started again with the same command, a node that is gone is replaced, and a head that is gone is
replaced with its whole cluster. Nothing else.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Literal, TypeVar, get_args

import polars as pl
import psutil

from podium.orchestrator.study.study import Study
from tests.orchestrator.ray_cluster import ROOT, RayCluster, strike
from tests.orchestrator.small_study import tables
from tests.orchestrator.strike_points import Armed, Phase, arm, claimed, end_attacks, release
from tests.orchestrator.study_assertions import attacked_study

Target = Literal["driver", "worker", "raylet", "head"]
Means = Literal["kill", "hang"]
MEANS: tuple[Means, ...] = get_args(Means)

_NUM_NODES = 2
BAD_INPUT, INTERRUPTED = 2, 3
# How many moments may be let pass, so that the strike falls on any of them.
_MOMENTS = {"suggest": 7, "training": 3, "checkpoint": 5, "commit": 9, "gathering": 7, "final": 3}
_CLAIM_SECONDS = 240.0
_END_SECONDS = 300.0
_STUCK_SECONDS = 15.0
_LOOK_SECONDS = 0.05  # to look for workers goes through all processes of the machine

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Whom, how and when."""

    target: Target
    means: Means
    phase: Phase

    def __str__(self) -> str:
        return f"{self.means} {self.target} during {self.phase}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What an attack met.

    Attributes:
        attack: what was done.
        moment: who was inside the phase when it was struck, and just before what; None if the
            phase did not come again, and nothing was done.
    """

    attack: Attack
    moment: str | None


class Siege:
    """One study under attack; use as a context manager.

    Args:
        cpus: of each node of the cluster on which it runs.
        storage: where the study's results go.
        kind: of study (`attacked_study`).
        seed: of the moments.
    """

    def __init__(self, storage: Path, kind: str, seed: int, cpus: int) -> None:
        self._new_cluster = partial(RayCluster, nodes=_NUM_NODES, cpus=cpus)
        self.cluster = self._new_cluster()
        self.storage = storage
        self.study: Study = attacked_study(kind)
        self._kind = kind
        self.hits: list[Hit] = []
        self.committed: list[pl.DataFrame] = []  # what was there when it was struck
        self._random = Random(seed)
        self._strikes = storage / "strikes"
        self._log = storage / "driver.log"
        self._driver: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Siege":
        self._strikes.mkdir(parents=True, exist_ok=True)
        self.cluster.__enter__()
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._driver is not None:
            strike(self._driver.pid, signal.SIGKILL)
            self._driver.wait()
        self.cluster.__exit__()

    def attack(self, attack: Attack) -> Hit:
        """Strike as soon as the phase comes, and mend what a person would mend."""
        number, phase = len(self.hits), attack.phase
        hit = Hit(attack=attack, moment=None)
        self.hits.append(hit)
        if phase != "gathering" and attack.target in ("worker", "raylet"):
            self._wait_for(lambda: self._busy() or None, _CLAIM_SECONDS)
        skip = self._random.randrange(_MOMENTS[phase])
        arm(self._strikes, Armed(number=number, phase=phase, skip=skip))
        found = self._wait_for(lambda: claimed(self._strikes, number), _CLAIM_SECONDS)
        if found is None:
            release(self._strikes, number)
            return hit
        holder, moment = found
        who = "driver" if holder == self._pid else "worker"
        hit = self.hits[-1] = Hit(attack=attack, moment=f"{who} before {moment}")
        if phase != "gathering" and any(self.storage.glob("*/trials/*/*.parquet")):
            self.committed.append(self._tables())
        time.sleep(self._random.uniform(0, 0.05))
        mend = self._strike(attack, holder)
        assert release(self._strikes, number), f"{hit} fell too late"
        mend()
        return hit

    def finish(self) -> None:
        """Wait for the end of the study."""
        assert self._driver is not None
        end_attacks(self._strikes)
        code = self._driver.wait(timeout=_END_SECONDS)
        assert code == 0, f"exit code {code}\n{self.tail()}"
        end = json.loads(self._log.read_text().splitlines()[-1])
        assert end["failed"] == 0

    def tail(self) -> str:
        """The last lines of all drivers so far."""
        return "\n".join(self._log.read_text().splitlines()[-30:])

    def _tables(self) -> pl.DataFrame:
        """What is committed; read again if rows were gathered meanwhile."""
        while True:
            with suppress(pl.exceptions.PolarsError, FileNotFoundError):
                return tables(self.storage, self.study)
            time.sleep(_LOOK_SECONDS)

    # The driver.

    @property
    def _pid(self) -> int:
        assert self._driver is not None
        return self._driver.pid

    def _start(self) -> None:
        command = [sys.executable, "-m", "tests.orchestrator.drive_attacked_study"]
        arguments = [self.storage, self._kind, self.cluster.address, self._strikes]
        with self._log.open("ab") as log:
            self._driver = subprocess.Popen(
                [*command, *map(str, arguments)],
                cwd=ROOT,
                env=self.cluster.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _wait_for(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """What ``look`` finds, or None once the driver is done."""
        assert self._driver is not None
        deadline = time.monotonic() + seconds
        while (found := look()) is None:
            code = self._driver.poll()
            assert code in (None, 0), f"exit code {code}\n{self.tail()}"
            assert time.monotonic() < deadline, f"no progress\n{self.tail()}"
            if code == 0:
                return look()
            time.sleep(_LOOK_SECONDS)
        return found

    # Strikes. Each gives what mends it, for after whoever waits was let go.

    def _strike(self, attack: Attack, holder: int) -> Callable[[], None]:
        strikes: dict[tuple[Target, Means], Callable[[int], Callable[[], None]]] = {
            ("driver", "kill"): self._kill_driver,
            ("driver", "hang"): self._hang_driver,
            ("worker", "kill"): self._kill_worker,
            ("worker", "hang"): self._hang_worker,
            ("raylet", "kill"): self._kill_raylet,
            ("raylet", "hang"): self._hang_raylet,
            ("head", "kill"): self._kill_head,
        }
        return strikes[attack.target, attack.means](holder)

    def _kill_driver(self, _: int) -> Callable[[], None]:
        assert self._driver is not None
        strike(self._pid, signal.SIGKILL)
        self._driver.wait()
        return self._start

    def _hang_driver(self, _: int) -> Callable[[], None]:
        return self._stopped(self._pid, self._random.uniform(0.5, 6.0), signal.SIGCONT)

    def _kill_worker(self, holder: int) -> Callable[[], None]:
        if (worker := self._worker(holder)) is not None:
            strike(worker, signal.SIGKILL)
        return _nothing

    def _hang_worker(self, holder: int) -> Callable[[], None]:
        if (worker := self._worker(holder)) is None:
            return _nothing
        if self._random.random() < 1 / 3:
            strike(worker, signal.SIGSTOP)
            return partial(_until_gone, worker)
        end = self._random.choice((signal.SIGCONT, signal.SIGKILL))
        return self._stopped(worker, self._random.uniform(0.5, 3.0), end)

    def _kill_raylet(self, holder: int) -> Callable[[], None]:
        self.cluster.kill_node(self._node(holder))
        return self._add_node

    def _hang_raylet(self, holder: int) -> Callable[[], None]:
        """For so long that the head may give the node up; its workers go on all the while."""
        raylet = self.cluster.raylet(self._node(holder))
        thaw = self._stopped(raylet, self._random.uniform(1.0, 5.0), signal.SIGCONT)

        def mend() -> None:
            thaw()
            self._add_node()

        return mend

    def _kill_head(self, _: int) -> Callable[[], None]:
        self.cluster.kill_head()
        return self._replace_cluster

    def _stopped(self, pid: int, seconds: float, end: signal.Signals) -> Callable[[], None]:
        strike(pid, signal.SIGSTOP)
        deadline = time.monotonic() + seconds

        def go_on() -> None:
            time.sleep(max(0.0, deadline - time.monotonic()))
            strike(pid, end)

        return go_on

    def _add_node(self) -> None:
        if len(self.cluster.nodes) < _NUM_NODES:
            self.cluster.add_node()

    def _replace_cluster(self) -> None:
        """While the driver finds out by itself that its cluster is gone."""
        assert self._driver is not None
        lost, self.cluster = self.cluster, self._new_cluster()
        self.cluster.__enter__()
        code = self._driver.wait(timeout=_END_SECONDS)
        lost.__exit__()
        was_joining = code == BAD_INPUT and lost.address in self.tail().splitlines()[-1]
        assert code in (0, INTERRUPTED) or was_joining, f"exit code {code}\n{self.tail()}"
        if code != 0:
            self._start()

    def _worker(self, holder: int) -> int | None:
        """The worker that is inside the phase, or one that trains, or any.

        None if there is none, as when the driver has left the cluster to end the study.
        """
        if holder in self.cluster.workers():
            return holder
        workers = self._busy() or sorted(self.cluster.workers())
        return self._random.choice(workers) if workers else None

    def _busy(self) -> list[int]:
        return sorted(worker for worker in self.cluster.workers() if not _is_idle(worker))

    def _node(self, holder: int) -> int:
        if holder in self.cluster.workers():
            return self.cluster.node_of(holder)
        return self._random.choice(self.cluster.nodes)


def _nothing() -> None:
    pass


def _until_gone(worker: int) -> None:
    """The run finds by itself that the trial is stuck, and kills its worker."""
    deadline = time.monotonic() + _STUCK_SECONDS
    while psutil.pid_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    strike(worker, signal.SIGCONT)  # it had no trial


def _is_idle(worker: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return "ray::IDLE" in " ".join(psutil.Process(worker).cmdline())
    return True

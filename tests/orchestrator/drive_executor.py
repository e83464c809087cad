"""Runs trials that misbehave on a Ray cluster, and tells line by line what the scheduler hears.

python -m tests.orchestrator.drive_executor PLAN    (JSON, see `Plan`)
"""

import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.orchestrator.executors.ray_tune import RayTuneExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.scheduling.executor_interface import ClusterGoneError, Loss, NoJob
from podium.orchestrator.study.resource_demand import Capacity, Demand
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from podium.trainables.trial_reports import EpochReport

RELEASED = "released"  # a file: trials that ``hold`` go on until it is there


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be run.

    Attributes:
        jobs: trial id -> what it does, with an amount: seconds of ``report``, say.
        demands: trial id -> CPUs and GPUs; one CPU where none are given.
        overdue: trial id -> seconds after its begin at which it must die.
        again: trials that are run again, with another behaviour, once they are lost.
        probed: whether all nodes are asked for the results before anything runs.
        hidden: whether this process alone sees them.
    """

    folder: str
    jobs: dict[str, str]
    address: str | None = None
    demands: dict[str, tuple[float, float]] = field(default_factory=dict)
    overdue: dict[str, float] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    max_concurrent: int | None = None
    patience: int = 14
    probed: bool = False
    hidden: bool = False


class Misbehaving:
    """A trial that announces its process, then does what its seed stands for."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def __call__(
        self,
        settings: TrialSettings,
        *,
        resume: bytes | None,
        save: Callable[[bytes], None],
        keep: object,
    ) -> Iterator[EpochReport]:
        trial_id, behaviour = settings.draw.split("|")
        told = {"pid": os.getpid(), "gpus": os.environ.get("CUDA_VISIBLE_DEVICES")}
        written = self._folder / f"{trial_id}.tmp"
        written.write_text(json.dumps(told))
        written.rename(self._folder / f"{trial_id}.json")
        name, _, amount = behaviour.partition(" ")
        if name == "report":
            deadline = time.monotonic() + float(amount)
            yield from _reports(lambda: time.monotonic() > deadline, min(0.05, float(amount)))
        elif name == "hold":
            yield from _reports((self._folder / RELEASED).exists, 0.05)
        else:
            _MISBEHAVIOURS[name]()


def _reports(is_over: Callable[[], bool], pause_seconds: float) -> Iterator[EpochReport]:
    for epoch in range(1, 1_000_000):
        yield EpochReport(
            fold=0, epoch=epoch, scores=(), class_hits=(), seconds=0, peak_memory_mb=0
        )
        if is_over():
            return
        time.sleep(pause_seconds)


def _spin() -> None:
    """Holds the interpreter for years, within one call to C."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def _eat() -> None:
    eaten = []
    while True:
        eaten.append(b"x" * 100_000_000)
        time.sleep(0.02)


_MISBEHAVIOURS: Mapping[str, Callable[[], Any]] = {
    "sleep": lambda: time.sleep(600),
    "spin": _spin,
    "eat": _eat,
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "leak": lambda: (_ for _ in ()).throw(MemoryError("no memory")),
}


class ScriptedScheduler:
    """Hands out the plan's jobs and tells of everything it hears."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._waiting = list(plan.jobs.items())
        self._running: dict[str, Demand] = {}
        self._begun: dict[str, float] = {}
        self._stopping = threading.Event()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        self._stopping.set()

    def next_job(self, capacity: Capacity) -> TrialJob | NoJob:
        capacity = capacity.at_most(self._plan.max_concurrent)
        for place, (trial_id, behaviour) in enumerate(self._waiting):
            cpus, gpus = self._plan.demands.get(trial_id, (1.0, 0.0))
            demand = Demand(cpus=cpus, gpus=gpus)
            if not self._running or capacity.fits(Counter([*self._running.values(), demand])):
                del self._waiting[place]
                self._running[trial_id] = demand
                tell("handed out", trial_id, places=capacity.num_fitting(demand))
                return _job(self._plan, trial_id, behaviour, demand)
            break
        return NoJob.WAIT if self._running else NoJob.FINISHED

    def trials_started(self, trial_ids: Sequence[str]) -> None:
        (trial_id,) = trial_ids
        self._begun[trial_id] = time.monotonic()
        tell("begun", trial_id)

    def receive(self, trial_id: str, messages: Any) -> bool:
        for message in messages:
            if isinstance(message, Ended):
                tell(
                    "ended",
                    trial_id,
                    state=message.state,
                    cause=message.cause,
                    message=message.message,
                )
                del self._running[trial_id]
                return False
        return True

    def trial_lost(self, trial_id: str, loss: Loss) -> None:
        tell("lost", trial_id, **asdict(loss))
        del self._running[trial_id], self._begun[trial_id]
        if trial_id in self._plan.again:
            self._waiting.insert(0, (trial_id, self._plan.again[trial_id]))

    def trials_to_kill(self, capacity: Capacity) -> Mapping[str, Loss]:
        now = time.monotonic()
        return {
            trial_id: Loss(cause="stuck", message="said nothing for too long")
            for trial_id, seconds in self._plan.overdue.items()
            if now > self._begun.get(trial_id, now) + seconds
        }


def _job(plan: Plan, trial_id: str, behaviour: str, demand: Demand) -> TrialJob:
    settings = TrialSettings(
        dataset=DatasetSettings(name="glyphs", options={"script": "greek"}),
        protocol=ProtocolSettings(kind="fixed", val_fraction=0.25),
        folds=(0,),
        backbone=BackboneSettings(name="conv_small"),
        embedding_dim=8,
        loss="contrastive",
        hyperparameters={},
        training=TrainingSettings(epochs=1_000_000),
        seed=0,
        draw=f"{trial_id}|{behaviour}",
    )
    return TrialJob(
        trial_id=trial_id,
        search="s0",
        attempt=1,
        paths=StudyPaths(Path(plan.folder) / "study"),
        settings=settings,
        demand=demand,
    )


def tell(event: str, trial_id: str, **facts: Any) -> None:
    line = {"event": event, "trial": trial_id, "at": time.monotonic(), **facts}
    print(json.dumps(line), flush=True)


def main() -> int:
    plan = Plan(**json.loads(sys.argv[1]))
    study = Path(plan.folder) / "study"
    study.mkdir(exist_ok=True)
    (study / "store.json").write_text("{}")
    paths = StudyPaths(study)
    if plan.hidden:
        os.chdir(plan.folder)  # workers run in another folder
        paths = StudyPaths(Path("study"))
    executor = RayTuneExecutor(
        Demand(cpus=1.0, gpus=0.0),
        plan.address,
        plan.max_concurrent,
        trial=Misbehaving(plan.folder),
        paths=paths if plan.probed else None,
        patience=plan.patience,
    )
    with executor:
        scheduler = ScriptedScheduler(plan)
        signal.signal(signal.SIGTERM, lambda *_: scheduler.stop())
        executor.run(scheduler)
    tell("stopped" if scheduler.is_stopping else "finished", "")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PodiumError as error:
        tell("refused", "", message=str(error), is_gone=isinstance(error, ClusterGoneError))
        sys.exit(error.exit_code)

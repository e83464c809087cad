"""Thousands of tiny trials in one run: memory of the driver and time per trial, start to end.

    python -m benchmarks.many_trials [--searches 50] [--trials 100] [--kill-at 2500]

A trial does nothing but report twice. First bare Ray Tune runs as many trials with as many reports
in a process of its own, then podium runs the study, is killed with SIGKILL at ``--kill-at``
committed trials and continued by the same command. Memory is the resident set of the driver;
growth is from the tenth part of its trials to the last. Time per trial leaves out what the sampler
itself takes, which is counted apart; the driver's own processor time depends least on the load of
the machine.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
from ray import tune

# isort: on
from benchmarks.orchestration import BareTrainable, reporting_trial
from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.results.records.results_folder import is_present
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.compaction_manifest import take_inventory
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.run_study import Console, run_study
from orchestrator.scheduling.running_search import SearchRun
from orchestrator.scheduling.study_scheduler import StudyScheduler
from orchestrator.study.resource_demand import Demand, most_demand
from orchestrator.study.study import (
    EarlyStopping,
    FinalSettings,
    ResourceSettings,
    SearchSettings,
    Study,
    StudyLoss,
    StudyTraining,
)
from trainables.settings.trial_settings import BackboneSettings, DatasetSettings, ProtocolSettings

_REPORTS = 2
_ONE_CPU = Demand(cpus=1.0, gpus=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, default=50)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--kill-at", type=int, default=2500)
    parser.add_argument("--sampler", default="random")
    parser.add_argument("--inner", choices=["bare", "podium"])
    parser.add_argument("--storage", type=Path)
    options = parser.parse_args()
    if options.inner == "bare":
        _tell(_bare(options.searches * options.trials))
    elif options.inner == "podium":
        _tell(_podium(_study(options), options.storage))
    else:
        _compare(options)


def _compare(options: argparse.Namespace) -> None:
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bare = json.loads(_inner(options, "bare", folder).communicate()[0])
        _print("bare Tune", bare)
        storage = Path(folder) / "killed"
        driver = _inner(options, "podium", storage)
        paths = StudyPaths(storage / _study(options).name)
        committed = _kill_at(driver, paths, options.kill_at)
        print(f"killed with SIGKILL at {committed} committed trials", flush=True)
        started = time.perf_counter()
        again = json.loads(_inner(options, "podium", storage).communicate()[0])
        print(f"continued after {again['start']:.1f} s: reading, replay and Ray's start")
        _print("continued", again)
        print(f"whole continuation {time.perf_counter() - started:.0f} s", flush=True)
        rows = Reader(paths.folder).trials().collect()
        counts = rows.group_by("search", "stage").len()
        print(
            f"{len(rows)} trials, {rows['trial_id'].n_unique()} ids; trials of a search: "
            f"{sorted(set(counts.filter(counts['stage'] == 'search')['len']))}",
            flush=True,
        )
        whole = json.loads(_inner(options, "podium", Path(folder) / "whole").communicate()[0])
        _print("undisturbed", whole)
        print(f"growth to that of bare Tune: {whole['growth_mb'] / bare['growth_mb']:.2f}")


def _inner(options: argparse.Namespace, which: str, storage: Any) -> subprocess.Popen[str]:
    words = ["--searches", options.searches, "--trials", options.trials, "--sampler"]
    command = ["-m", "benchmarks.many_trials", *words, options.sampler, "--inner", which]
    return subprocess.Popen(
        [sys.executable, *map(str, command), "--storage", str(storage)],
        stdout=subprocess.PIPE,
        text=True,
    )


def _kill_at(driver: subprocess.Popen[str], paths: StudyPaths, count: int) -> int:
    while (committed := _num_committed(paths)) < count:
        assert driver.poll() is None, "the driver ended before it could be killed"
        time.sleep(1.0)
    children = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    psutil.wait_procs(children, timeout=30)
    return committed


def _num_committed(paths: StudyPaths) -> int:
    if not is_present(paths):
        return 0
    inventory = take_inventory(paths)
    return len(inventory.loose) + inventory.manifest.num_trials


def _tell(measured: dict[str, Any]) -> None:
    print(json.dumps(measured), flush=True)


def _print(name: str, measured: dict[str, Any]) -> None:
    fifths, cpu = (
        ", ".join(f"{each:.1f}" for each in measured[key])
        for key in ("ms_by_fifth", "cpu_ms_by_fifth")
    )
    print(
        f"{name:12} {measured['trials']:5} trials, driver {measured['first_mb']:.0f} -> "
        f"{measured['last_mb']:.0f} MB (+{measured['growth_mb']:.0f}), ms per trial by fifth: "
        f"{fifths}, of which the driver computes {cpu}; sampler {measured['sampler_ms']:.2f}",
        flush=True,
    )


class _Gauge:
    """Notes time and memory at each trial's end."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._started = time.perf_counter()
        self.sampler_seconds = 0.0
        self._times: list[float] = []
        self._cpu: list[float] = []
        self._memory: list[float] = []

    def ended(self) -> None:
        if not self._times:
            self._started = time.perf_counter()
        self._times.append(time.perf_counter() - self.sampler_seconds)
        self._cpu.append(time.process_time() - self.sampler_seconds)
        if len(self._times) % 10 == 0:
            self._memory.append(self._process.memory_info().rss / 2**20)

    def measured(self) -> dict[str, Any]:
        count, memory = len(self._times), self._memory
        first = memory[len(memory) // 10]
        bounds = [count * part // 5 for part in range(5)] + [count - 1]

        def by_fifth(seconds: list[float]) -> list[float]:
            return [
                1e3 * (seconds[end] - seconds[begin]) / (end - begin)
                for begin, end in pairwise(bounds)
            ]

        return {
            "trials": count,
            "first_mb": first,
            "last_mb": memory[-1],
            "growth_mb": memory[-1] - first,
            "ms_by_fifth": by_fifth(self._times),
            "cpu_ms_by_fifth": by_fifth(self._cpu),
            "sampler_ms": 1e3 * self.sampler_seconds / count,
        }


class _Gauging(tune.Callback):
    def __init__(self, gauge: _Gauge) -> None:
        self._gauge = gauge

    def on_trial_complete(self, *_: Any, **__: Any) -> None:
        self._gauge.ended()


def _bare(trials: int) -> dict[str, Any]:
    gauge = _Gauge()
    with (
        RayTuneExecutor(_ONE_CPU) as executor,
        tempfile.TemporaryDirectory() as folder,
    ):
        slots = executor.capacity().num_fitting(_ONE_CPU)
        tune.run(
            tune.with_resources(BareTrainable, {"cpu": 1}),
            config={"epochs": _REPORTS, "x": tune.uniform(0, 1)},
            num_samples=trials,
            max_concurrent_trials=slots,
            reuse_actors=True,
            storage_path=folder,
            callbacks=[_Gauging(gauge)],
            verbose=0,
        )
    return gauge.measured()


def _podium(study: Study, storage: Path) -> dict[str, Any]:
    gauge, began = _Gauge(), time.perf_counter()
    start: list[float] = []
    for name in ("suggest", "finish"):
        setattr(SearchRun, name, _timed(getattr(SearchRun, name), gauge))

    @contextmanager
    def watch(scheduler: StudyScheduler) -> Iterator[None]:
        start.append(time.perf_counter() - began)
        receive = scheduler.receive

        def heard(trial_id: str, messages: Any) -> bool:
            continues = receive(trial_id, messages)
            if not continues:
                gauge.ended()
            return continues

        scheduler.receive = heard  # type: ignore[method-assign]
        yield

    end = run_study(
        study,
        StudyPaths(storage / study.name),
        start_executor=lambda: RayTuneExecutor(most_demand(study), trial=reporting_trial),
        console=Console(say=lambda line: None, watch=watch),
        trains_here=False,
    )
    assert end.progress.trials_done == end.progress.trials_planned
    return {**gauge.measured(), "start": start[0]}


def _timed(method: Callable[..., Any], gauge: _Gauge) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return method(*arguments, **options)
        finally:
            gauge.sampler_seconds += time.perf_counter() - started

    return timed


def _study(options: argparse.Namespace) -> Study:
    """Searches of two losses, over as many embedding dimensions as it takes."""
    return Study(
        name="many",
        datasets=(DatasetSettings(name="glyphs", options={"script": "latin"}),),
        backbones=(BackboneSettings(name="conv_small"),),
        embedding_dims=tuple(range(8, 8 + options.searches // 2)),
        losses=(StudyLoss("contrastive"), StudyLoss("proxy_anchor")),
        protocols=(ProtocolSettings(kind="fixed", val_fraction=0.25),),
        search=SearchSettings(
            sampler=options.sampler,
            trials=options.trials,
            early_stopping=EarlyStopping(kind="none"),
        ),
        final=FinalSettings(seeds=1),
        training=StudyTraining(overrides={"epochs": _REPORTS}),
        resources=ResourceSettings(),
    )


if __name__ == "__main__":
    main()

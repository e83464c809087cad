"""Cost of podium per tiny trial, against bare Ray Tune doing the same in the same process.

    python -m benchmarks.orchestration [--trials 200] [--reports 4] [--rounds 3]

A trial here does nothing but report, so what is left is orchestration. Bare Tune: one class
trainable, reused actors, no loggers, a random sampler, as many concurrent trials. podium: the
same reports, with its store (lease, attempt, committed Parquet row), its sampler (random here)
and its scheduler; once without and once with a checkpoint after every epoch. Rounds interleave.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# isort: off
from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.executors.ray_tune import RayTuneExecutor  # first: sets Ray's environment
from ray import tune
# isort: on

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run.run_study import Console, run_study
from podium.orchestrator.scheduling.study_scheduler import StudyScheduler
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import EpochReport, Score, TestReport

_ONE_CPU = Demand(cpus=1.0, gpus=0.0)


def reporting_trial(
    settings: TrialSettings,
    *,
    resume: bytes | None,
    save: Callable[[bytes], None],
    keep: object = None,
) -> Iterator[EpochReport | TestReport]:
    """Nothing but reports."""
    scores = tuple(
        Score(role="val", metric="recall", k=k, value=0.5, hits=50, queries=100, gallery=100)
        for k in settings.ks
    )
    for epoch in range(1, settings.training.epochs + 1):
        yield EpochReport(
            fold=0, epoch=epoch, scores=scores, class_hits=(), seconds=0.0, peak_memory_mb=0.0
        )


def checkpointing_trial(
    settings: TrialSettings,
    *,
    resume: bytes | None,
    save: Callable[[bytes], None],
    keep: object = None,
) -> Iterator[EpochReport | TestReport]:
    """Reports, and 100 kB of state before each."""
    for report in reporting_trial(settings, resume=resume, save=save):
        save(bytes(100_000))
        yield report


class BareTrainable(tune.Trainable):
    """The same reports to Tune alone."""

    def setup(self, config: dict[str, Any]) -> None:
        self._epochs = config["epochs"]

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self._epochs = new_config["epochs"]
        return True

    def step(self) -> dict[str, Any]:
        return {"recall": 0.5, "done": self.iteration + 1 >= self._epochs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--reports", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    results: dict[str, list[float]] = {"bare": [], "podium": [], "podium+checkpoints": []}
    with RayTuneExecutor(_ONE_CPU) as executor:
        slots = executor.capacity().num_fitting(_ONE_CPU)
        _bare(4, options.reports, slots)  # warm-up: workers import what they need
        for _ in range(options.rounds):
            results["bare"].append(_bare(options.trials, options.reports, slots))
            for name, trial in (
                ("podium", reporting_trial),
                ("podium+checkpoints", checkpointing_trial),
            ):
                results[name].append(_podium(executor, trial, options.trials, options.reports))
    print(f"{options.trials} trials, {options.reports} reports each, {slots} slots")
    print(f"{'':22}{'ms per trial':>14}{'ratio to bare':>15}")
    for name, seconds in results.items():
        ratios = [a / b for a, b in zip(seconds, results["bare"], strict=True)]
        print(
            f"{name:22}{1e3 * statistics.median(seconds) / options.trials:>14.1f}"
            f"{statistics.median(ratios):>15.2f}"
        )


def _bare(trials: int, reports: int, slots: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        tune.run(
            tune.with_resources(BareTrainable, {"cpu": 1}),
            config={"epochs": reports, "x": tune.uniform(0, 1)},
            num_samples=trials,
            max_concurrent_trials=slots,
            reuse_actors=True,
            storage_path=folder,
            verbose=0,
        )
        return time.perf_counter() - started


def _podium(executor: RayTuneExecutor, trial: Any, trials: int, reports: int) -> float:
    study = load_study(
        {
            "study": "orchestration",
            "datasets": [{"name": "glyphs"}],
            "backbones": ["conv_small"],
            "embedding_dims": [16],
            "losses": ["contrastive"],
            "protocol": {"kind": "fixed", "val_fraction": 0.25},
            "search": {"sampler": "random", "trials": trials, "early_stopping": "none"},
            "final": {"seeds": 1},
            "training": {"epochs": reports},
        }
    )
    spent: list[float] = []

    @contextmanager
    def timed(scheduler: StudyScheduler) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent.append(time.perf_counter() - started)

    with tempfile.TemporaryDirectory() as folder:
        end = run_study(
            study,
            StudyPaths(Path(folder) / study.name),
            start_executor=lambda: _Lent(executor, trial),
            console=Console(say=lambda line: None, watch=timed),
            trains_here=True,
        )
        assert end.progress.trials_done == end.progress.trials_planned
        return spent[0] * trials / end.progress.trials_done


class _Lent(RayTuneExecutor):
    """An executor on the Ray that runs already."""

    def __init__(self, lender: RayTuneExecutor, trial: Any) -> None:
        super().__init__(_ONE_CPU, trial=trial)
        self._cluster = lender._cluster

    def __enter__(self) -> "_Lent":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave Ray to the benchmark."""


if __name__ == "__main__":
    main()

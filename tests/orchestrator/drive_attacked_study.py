"""Runs the small study on a Ray cluster, to be attacked.

python -m tests.orchestrator.drive_attacked_study STORAGE KIND ADDRESS STRIKES

Ends as `podium run` does: 0 done, 3 if the same command is to go on, others with a message. The
last line of a finished run says how many trials failed.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.orchestrator.executors import ray_cluster_watch
from podium.orchestrator.executors.ray_tune import RayTuneExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run.run_study import Console, run_study
from podium.orchestrator.scheduling.study_scheduler import StudyScheduler
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.worker.worker import TrialFunction, train
from podium.stop_signals import Stopped, StopSignals
from podium.trainables.settings.trial_settings import BASELINES, TrialSettings
from podium.trainables.trial_reports import EpochReport, TestReport
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.strike_points import dawdle, listen, reach, spare
from tests.orchestrator.study_assertions import attacked_study, is_of_populations

# A head that is gone is taken for gone after a few seconds rather than a minute.
_PATIENCE = 4
ray_cluster_watch._SECONDS_TO_LEAVE = 2.0


class AttackedTrial:
    """A trial, slow enough to be struck, in a process that listens for strikes."""

    def __init__(self, trial: TrialFunction, strikes: Path, study_folder: Path) -> None:
        self._trial = trial
        self._strikes = strikes
        self._study_folder = study_folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        """It came to a worker, which never calls it for members of a population."""
        self.__dict__.update(state)
        if self._trial is train:
            listen(self._strikes, self._study_folder)
            attack_populations(self._strikes)

    def __call__(
        self,
        settings: TrialSettings,
        *,
        resume: bytes | None,
        save: Callable[[bytes], None],
        keep: object,
    ) -> Iterator[EpochReport | TestReport]:
        listen(self._strikes, self._study_folder)
        is_final = settings.evaluate_test and settings.loss not in BASELINES
        phase = "final" if is_final else "training"
        # Three losses in a row without an epoch in between are held against a trial.
        spare(self._strikes, True)
        for report in self._trial(settings, resume=resume, save=save, keep=None):
            reach(self._strikes, phase, f"after epoch {report.epoch} of {settings.loss}")
            dawdle(self._strikes)
            yield report
            spare(self._strikes, False)


def attack_populations(strikes: Path) -> None:
    """Make epochs of populations in this process slow enough to be struck."""
    from podium.trainables.population.run_population import Population  # loads torch

    step = Population.step

    def attacked(population: Population) -> Any:
        reports = step(population)
        reach(strikes, "training", f"after an epoch of {len(reports)} members")
        dawdle(strikes)
        return reports

    Population.step = attacked  # type: ignore[method-assign]


def main() -> int:
    storage, kind, address, strikes = sys.argv[1:]
    study = attacked_study(kind)
    trial: TrialFunction = train if is_of_populations(study) else simulated_trial
    paths = StudyPaths(Path(storage) / study.name)
    listen(Path(strikes), paths.folder)

    with StopSignals() as signals:

        @contextmanager
        def watch(scheduler: StudyScheduler) -> Iterator[None]:
            with signals.stopping(scheduler.stop):
                yield

        end = run_study(
            study,
            paths,
            start_executor=lambda: RayTuneExecutor(
                demand_of(study),
                address,
                trial=AttackedTrial(trial, Path(strikes), paths.folder),
                patience=_PATIENCE,
            ),
            console=Console(say=lambda line: print(line, flush=True), watch=watch),
            trains_here=False,
        )
    if end.interrupted:
        raise Stopped
    print(json.dumps({"failed": end.progress.failed}), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Stopped:
        sys.exit(3)
    except PodiumError as error:
        print(f"error: {error}", flush=True)
        sys.exit(error.exit_code)

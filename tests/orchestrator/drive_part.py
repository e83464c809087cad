"""Runs a part of a study in a process of its own, to be killed.

python -m tests.orchestrator.drive_part STORAGE PART GATE

After a few trials it waits until there is a file GATE. Segments are small, so that parts compact
while they run. Ends as `podium run` does: 0 done, others
with a message.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results.records.runs import parse_part
from orchestrator.results.storage.locations import parse_place
from orchestrator.study.study import FinalSettings, KeepSettings
from podium.errors import PodiumError
from tests.orchestrator.results.small_segments import make_segments_small
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, run_here
from trainables.settings.trial_settings import TrialSettings
from trainables.trial_reports import EpochReport, TestReport

_NUM_FIRST, _TRIALS_PER_SEGMENT, _SEGMENTS_PER_LEVEL = 3, 4, 2
FOUR_BLOCKS = replace(
    STUDY,
    name="four-blocks",
    search=replace(STUDY.search, trials=4),
    final=FinalSettings(seeds=1),
    embedding_dims=(8, 16, 24, 32),
    keep=KeepSettings(models=False, embeddings=False),  # simulated trials have none
)
"""Two blocks for each of two parts."""


class GatedTrial:
    """Simulated trials, the first few at once and others once there is a file."""

    def __init__(self, gate: Path) -> None:
        self._gate = gate
        self._num_started = 0

    def __call__(
        self,
        settings: TrialSettings,
        *,
        resume: bytes | None,
        save: Callable[[bytes], None],
        keep: object,
    ) -> Iterator[EpochReport | TestReport]:
        self._num_started += 1
        for report in simulated_trial(settings, resume=resume, save=save, keep=None):
            yield report
            while self._num_started > _NUM_FIRST and not self._gate.exists():
                time.sleep(0.01)


def drive(storage: str, part: str, gate: str) -> int:
    """Run a part of the study; returns the exit code."""
    try:
        run_here(
            FOUR_BLOCKS,
            parse_place(storage),
            InProcessExecutor(GatedTrial(Path(gate))),
            say=lambda line: print(line, flush=True),
            part=parse_part(part),
        )
    except PodiumError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print("finished")
    return 0


if __name__ == "__main__":
    make_segments_small(trials=_TRIALS_PER_SEGMENT, segments=_SEGMENTS_PER_LEVEL)
    sys.exit(drive(*sys.argv[1:]))

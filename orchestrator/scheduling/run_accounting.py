"""The account of what a run spends, added to earlier runs, and how it gets into the store.

It is written when the run starts, every few seconds while it lasts, and when it ends: less often
where it is so long, in a study of very many searches, that writing takes a while. A run that is
killed loses what it spent since it was written last.
"""

import os
import platform
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Self

from podium.errors import CorruptFileError, FolderGoneError, StoreError
from podium.orchestrator.results.records.runs import (
    Run,
    RunEnding,
    RunSpent,
    is_larger,
    next_number,
    read_runs,
    write_run,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.results.storage.transient_errors import retrying_for
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.scheduling.resource_usage import Spending, Spent, SpentOn, added
from podium.orchestrator.study.blocks import trials_per_search
from podium.orchestrator.study.study import BudgetSettings, Study
from podium.orchestrator.trials.provenance import version

_WRITE_SECONDS = 5.0
_REMOTE_WRITE_SECONDS = 30.0  # every write is a request there
_MOST_OF_TIME = 0.02  # spent on writing: what is written grows with the number of searches


class RunAccount:
    """What this run spends, and all runs of the study together; entered when trials start.

    Args:
        say: takes a message when the account cannot be written, from a thread of its own.

    Attributes:
        spending: what this run spends.
        budget: the limits of the study now.
        ending: why the run is about to end; a run that ends with None was interrupted.
        completed: adds to what is written how far the study is; called from another thread too.

    Raises:
        CorruptFileError: the account of an earlier run cannot be read, or trials have none.
    """

    def __init__(
        self,
        study: Study,
        paths: StudyPaths,
        reader: Reader,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._study = study
        self._paths = paths
        self._say = say
        self._clock = clock
        self._earlier = read_runs(paths)
        if not self._earlier and not reader.ended_trials().is_empty():
            raise CorruptFileError(
                f"{paths.runs} holds no account of a run, while {paths.trials} holds trials: what"
                " they spent would be spent again. Restore the folder from a copy"
            )
        spent = (it for run in self._earlier for it in run.spent)
        self._earlier_sums = added((SpentOn(it.search, it.stage, it.use), it) for it in spent)
        self._earlier_gpu_seconds = sum(it.gpu_seconds for it in self._earlier_sums.values())
        self._earlier_wall = sum(run.seconds for run in self._earlier)
        self._number: int | None = None  # until it starts
        self._started: float | None = None
        self._started_at = datetime.now(UTC)
        self._stopped: float | None = None
        self.ending: RunEnding | None = None
        self._ended_searches: dict[str, int] = {}
        self._cancelled_searches: dict[str, int] = {}
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, name="run-account", daemon=True)
        self.spending = Spending(clock)
        self.budget = study.budget
        self.completed: Callable[[Run], Run] = lambda run: run

    def __enter__(self) -> Self:
        """Write that the run started."""
        # Not earlier: a budget that is used up before trials start would leave no account of it.
        self._started = self._clock()
        self._number = next_number(self._paths)
        self._write()
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Write how it ended."""
        self._released.set()
        self._thread.join()
        self._stopped = self._clock()
        if isinstance(error, Exception):
            self.ending = "error"
        if error is None:
            self._write()
            return
        # The error before is to be shown, and soon.
        with suppress(StoreError), retrying_for(0):
            self._write()

    def end_searches(self, trials: Mapping[str, int]) -> None:
        """Write down at once that these searches, id -> trials, have used up their shares."""
        self._ended_searches |= trials
        self._write()

    def cancel_searches(self, trials: Mapping[str, int]) -> None:
        """Record that the user cancelled these searches: search id -> number of trials it had."""
        self._cancelled_searches |= trials

    @property
    def has_news(self) -> bool:
        """Whether this run cancelled other searches than the account before says."""
        before = self._earlier[-1].cancelled_searches if self._earlier else {}
        return self._cancelled_searches != before

    def set_budget(self, budget: BudgetSettings) -> None:
        """Set the limits from now on.

        Searches that ended under smaller ones are no longer recorded as ended, so that the next
        run continues them.
        """
        if is_larger(asdict(budget), asdict(self.budget)):
            self._ended_searches.clear()
        self.budget = budget

    def sums(self) -> dict[SpentOn, Spent]:
        """Spent by all runs so far; what runs now counts as unfinished."""
        return added(self._earlier_sums.items(), self.spending.now().items())

    def gpu_seconds(self) -> float:
        """GPU-seconds of all runs so far."""
        return self._earlier_gpu_seconds + self.spending.gpu_seconds()

    def gpus_at_a_time(self) -> float:
        """Mean number of GPUs occupied in this run; 0 before its start."""
        seconds = self._seconds()
        return self.spending.gpu_seconds() / seconds if seconds else 0.0

    def wall_seconds(self) -> float:
        """Seconds from start to end of each run so far, summed."""
        return self._earlier_wall + self._seconds()

    def _seconds(self) -> float:
        """Seconds of this run until it ended, so that later answers equal what was written."""
        if self._started is None:
            return 0.0
        return (self._clock() if self._stopped is None else self._stopped) - self._started

    def _keep_writing(self) -> None:
        is_remote = isinstance(self._paths.folder, RemotePath)
        least_pause = _REMOTE_WRITE_SECONDS if is_remote else _WRITE_SECONDS
        pause, is_failing = least_pause, False
        while not self._released.wait(pause):
            began = time.monotonic()
            try:
                with retrying_for(0):  # the next time is soon enough, and others wait for this one
                    self._write()
            except FolderGoneError:
                return  # which ends the run, and is said there
            except StoreError as error:
                if not is_failing:
                    self._say(f"the account of this run cannot be written: {error}")
                is_failing = True
            else:
                is_failing = False
            pause = max(least_pause, (time.monotonic() - began) / _MOST_OF_TIME)

    def _write(self) -> None:
        with self._lock:
            write_run(self._paths, self.completed(self._run()))

    def _run(self) -> Run:
        assert self._number is not None, "an account is written once it has started"
        end = self.ending
        if end is None and self._released.is_set():
            end = "interrupted"
        return Run(
            number=self._number,
            started_at=self._started_at,
            host=platform.node(),
            pid=os.getpid(),
            podium_version=version("podium"),
            seconds=self._seconds(),
            end=end,
            budget=asdict(self.budget),
            trials_per_search=trials_per_search(self._study),
            ended_searches=dict(self._ended_searches),
            cancelled_searches=dict(self._cancelled_searches),
            spent=tuple(
                RunSpent(**on._asdict(), **asdict(spent))
                for on, spent in sorted(self.spending.now().items())
            ),
        )

"""The account of what a run spends, added to earlier runs, and how it gets into the store.

It is written when the run starts, every few seconds while it lasts, and when it ends: less often
where it is so long, in a study of very many searches, that writing takes a while. A run that is
killed loses what it spent since it was written last.
"""

import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import polars as pl

from orchestrator.results.records.runs import (
    ESTIMATE,
    WHOLE,
    Part,
    Run,
    RunEnding,
    RunSpent,
    StartedTrial,
    cancelled_searches,
    is_larger,
    latest_runs,
    next_number,
    read_runs,
    wall_seconds_of,
    write_run,
    write_run_count,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.locations import RemotePath
from orchestrator.results.storage.transient_errors import retrying_for
from orchestrator.results.trial_files.reader import Reader
from orchestrator.scheduling.resource_usage import Spending, Spent, SpentOn, added, use_of
from orchestrator.study.blocks import search_ids
from orchestrator.study.budget import SECONDS_PER_HOUR, limits_of_part, trials_per_search
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import Block, BudgetSettings, Study
from orchestrator.trials.provenance import current_versions
from podium.errors import FolderGoneError, StoreError

_WRITE_SECONDS = 5.0
_REMOTE_WRITE_SECONDS = 30.0  # every write is a request there
_MOST_OF_TIME = 0.02  # spent on writing: what is written grows with the number of searches
_BLOCK = ("dataset", "backbone", "embedding_dim", "image_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNow:
    """What runs at a moment, for those who watch from other processes.

    Attributes:
        slots: number of trials that fit at a time; None if not known.
        seconds_left: estimated seconds until the study or its budget ends; None if not known.
        part_done: part of the seconds of all trials that is done; None if not known.
        running: trials that workers have.
    """

    slots: int | None = None
    seconds_left: float | None = None
    part_done: float | None = None
    running: tuple[StartedTrial, ...] = ()


class RunAccount:
    """What this run spends, and all runs of the study together; entered when trials start.

    Args:
        study: the resolved study.
        paths: its results folder.
        reader: reader of its trials.
        say: takes a message when the account cannot be written, from a thread of its own.
        clock: gives seconds of a monotonic clock.
        part: which part of the study this run drives; what all runs spent is that of its searches.
        turn: makes what keeps other runs of parts from beginning at the same moment.

    Attributes:
        spending: what this run spends.
        part: which part of the study this run drives.
        budget: the limits of the whole study now.
        limits: those of the part: its share.
        now: gives what runs now; called from another thread.

    Raises:
        CorruptFileError: the account of an earlier run cannot be read.
    """

    def __init__(
        self,
        study: Study,
        paths: StudyPaths,
        reader: Reader,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
        part: Part = WHOLE,
        turn: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._study = study
        self._paths = paths
        self._say = say
        self._clock = clock
        self._turn = turn
        self.part = part
        self._earlier = read_runs(paths) or [*_estimate(study, reader)]
        every = spent_in(self._earlier)
        self._earlier_sums = every if part.is_whole else _of_searches(every, study, part)
        self._earlier_gpu_seconds = _gpu_seconds(self._earlier_sums)
        self._earlier_wall = wall_seconds_of(self._earlier, part)
        self._gpu_hours_of_parts = [
            _gpu_seconds(_of_searches(every, study, it)) / SECONDS_PER_HOUR
            for it in part.all
            if not part.is_whole
        ]
        self._number: int | None = None  # until it starts
        self._started: float | None = None
        self._started_at = datetime.now(UTC)
        self._stopped: float | None = None
        self._end: RunEnding | None = None
        self._ended_searches: dict[str, int] = {}
        self._cancelled_searches: dict[str, int] = {}
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, name="run-account", daemon=True)
        self.spending = Spending(clock)
        self.budget = study.budget
        self.limits = self._limits()
        self.now: Callable[[], RunNow] = RunNow

    def __enter__(self) -> Self:
        """Write that the run started, and an estimate of what older ones spent."""
        # Not earlier: a budget that is used up before trials start would leave no account of it.
        self._started = self._clock()
        with self._turn():
            self.write_estimate()
            self._number = next_number(self._paths)
            self._write()
            write_run_count(self._paths, self._number)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write how it ended."""
        self._released.set()
        self._thread.join()
        self._stopped = self._clock()
        if isinstance(error, Exception):
            self._end = "error"
        if error is None:
            self._write()
            return
        # The error before is to be shown, and soon.
        with suppress(StoreError), retrying_for(0):
            self._write()

    def write_estimate(self) -> None:
        """Write the estimate of what older runs spent, if it was made of rows."""
        for run in self._earlier:
            if run.number == ESTIMATE:
                write_run(self._paths, run)

    def set_ending(self, end: RunEnding) -> None:
        """Set why the run is about to end; without this call it was interrupted."""
        self._end = end

    def end_searches(self, trials: Mapping[str, int]) -> None:
        """Write down at once that the shares of these searches are used up.

        Args:
            trials: search id -> number of trials it had.
        """
        self._ended_searches |= trials
        self._write()

    def cancel_searches(self, trials: Mapping[str, int]) -> None:
        """Record that the user cancelled these searches: search id -> number of trials it had."""
        self._cancelled_searches |= trials

    @property
    def has_news(self) -> bool:
        """Whether the accounts before say something else of how the study is than this one would.

        That is so where this run cancelled other searches than the one before, and where no run
        of this part says that it is over, as a run of the whole study left it nothing to do.
        """
        before = [run for run in latest_runs(self._earlier) if run.part == self.part]
        if not self.part.is_whole and not any(run.end in ("finished", "budget") for run in before):
            return True
        return self._cancelled_searches != cancelled_searches(before or self._earlier)

    def set_budget(self, budget: BudgetSettings) -> None:
        """Set the limits from now on.

        Searches that ended under smaller ones are no longer recorded as ended, so that the next
        run continues them.
        """
        if is_larger(asdict(budget), asdict(self.budget)):
            self._ended_searches.clear()
        self.budget = budget
        self.limits = self._limits()

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

    def _limits(self) -> BudgetSettings:
        return limits_of_part(self._study, self.budget, self.part, self._gpu_hours_of_parts)

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
            write_run(self._paths, self._run())

    def _run(self) -> Run:
        assert self._number is not None, "an account is written once it has started"
        end = self._end
        if end is None and self._released.is_set():
            end = "interrupted"
        now = self.now() if end is None else RunNow()
        return Run(
            number=self._number,
            started_at=self._started_at,
            host=platform.node(),
            pid=os.getpid(),
            podium_version=current_versions().podium_version,
            seconds=self._seconds(),
            end=end,
            budget=asdict(self.budget),
            trials_per_search=trials_per_search(self._study),
            ended_searches=dict(self._ended_searches),
            cancelled_searches=dict(self._cancelled_searches),
            slots=now.slots,
            seconds_left=now.seconds_left,
            part_done=now.part_done,
            running=now.running,
            part=self.part,
            spent=tuple(
                RunSpent(**on._asdict(), **asdict(spent))
                for on, spent in sorted(self.spending.now().items())
            ),
        )


def spent_in(runs: Iterable[Run]) -> dict[SpentOn, Spent]:
    """What runs spent together, by search, stage and use."""
    return added(
        (SpentOn(spent.search, spent.stage, spent.use), spent)
        for run in runs
        for spent in run.spent
    )


def _of_searches(sums: Mapping[SpentOn, Spent], study: Study, part: Part) -> dict[SpentOn, Spent]:
    ids = search_ids(study, part)
    return {on: spent for on, spent in sums.items() if on.search in ids}


def _gpu_seconds(sums: Mapping[SpentOn, Spent]) -> float:
    return sum(spent.gpu_seconds for spent in sums.values())


def estimated_run(study: Study, reader: Reader) -> Run | None:
    """What a folder without accounts spent, by its rows; None if it has none.

    Rows know the seconds of training alone, and nothing of attempts that left no result. How long
    runs took is not known at all.
    """
    found = list(_estimate(study, reader))
    return found[0] if found else None


def _estimate(study: Study, reader: Reader) -> Iterable[Run]:
    rows = (
        reader.trials()
        .filter(pl.col("same_as").is_null())
        .select(
            *("search", "stage", "state", "seconds", "attempts", "started_at"),
            *("dataset", "backbone", "embedding_dim", "image_size"),
        )
        .collect()
    )
    sums = {
        SpentOn(search, stage, use): Spent(*values)
        for search, stage, use, *values in _sums(study, rows).iter_rows()
    }
    if sums:
        yield Run(
            number=ESTIMATE,
            started_at=rows["started_at"].min(),  # type: ignore[arg-type]
            host="",
            pid=0,
            podium_version="",
            seconds=0.0,
            end="estimate",
            budget=dict.fromkeys(asdict(study.budget)),
            trials_per_search=trials_per_search(study),
            spent=tuple(
                RunSpent(**on._asdict(), **asdict(spent)) for on, spent in sorted(sums.items())
            ),
        )


def _sums(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    """The fields of `Spent`, of the rows of each search, stage and use."""
    of_block = rows.select(_BLOCK).unique()
    demands = [demand_of(study, Block(**row)) for row in of_block.to_dicts()]
    shares = of_block.with_columns(
        pl.Series("cpus", [demand.cpus for demand in demands], pl.Float64),
        pl.Series("gpus", [demand.gpus for demand in demands], pl.Float64),
    )
    uses = {state: use_of(state) for state in rows["state"].unique()}
    seconds = pl.col("seconds").fill_null(0.0)
    is_whole = (pl.col("use") == "complete") & (pl.col("attempts") == 1)

    def summed(values: pl.Expr) -> pl.Expr:
        """The sum one after the other, so that last bits do not depend on how it is computed."""
        return values.cum_sum().last()

    return (
        rows.join(shares, on=_BLOCK, nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.col("state").replace_strict(uses, return_dtype=pl.String).alias("use"), seconds
        )
        .group_by("search", "stage", "use", maintain_order=True)
        .agg(
            pl.col("attempts").cast(pl.Int64).sum().alias("tries"),
            summed(seconds),
            summed(seconds * pl.col("cpus")).alias("cpu_seconds"),
            summed(seconds * pl.col("gpus")).alias("gpu_seconds"),
            is_whole.cast(pl.Int64).sum().alias("whole_tries"),
            summed(pl.when(is_whole).then(seconds).otherwise(0.0)).alias("whole_seconds"),
        )
    )

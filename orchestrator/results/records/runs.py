"""Runs: each start of the study, with what it spent and how it ended.

Numbers count from 1, and none may be missing: what a lost run spent would be spent anew.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from pydantic import AwareDatetime, NonNegativeFloat, TypeAdapter
from pydantic.dataclasses import dataclass

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.json_records import STRICT, Count, FileName, parsed
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from podium.orchestrator.results.storage.files import each, list_files

HOURS = ("gpu_hours", "wall_hours")
"""Limits of time in a budget."""

RunEnding = Literal["finished", "interrupted", "budget", "error"]
Use = Literal[
    "complete",  # became the row of a trial that ended by itself
    "pruned",  # became the row of a trial that was stopped early
    "failed",  # became the row of a failed trial, which may have been retried since
    "repeated",  # was lost with its worker or node, or made again for another reason
    "unfinished",  # was left when the run ended
]


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RunSpent:
    """What attempts at trials of one search, stage and use took together.

    Attributes:
        use: what became of the attempts.
        tries: number of attempts.
        seconds: time from when a worker had them until they ended, summed; of a population the
            time of its worker slot, in equal parts of its members.
        cpu_seconds: seconds times the CPUs they occupied.
        gpu_seconds: seconds times the GPUs they occupied, fractions where trials share one.
        whole_tries: attempts that started from no checkpoint and ended complete.
        whole_seconds: seconds of these.
    """

    search: str
    stage: str
    use: Use
    tries: Count
    seconds: NonNegativeFloat
    cpu_seconds: NonNegativeFloat
    gpu_seconds: NonNegativeFloat
    whole_tries: Count
    whole_seconds: NonNegativeFloat


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class StartedTrial:
    """A trial that a worker has.

    Attributes:
        attempt: number of the attempt, from 1.
        where: node and device, as far as they are known.
    """

    trial_id: FileName
    search: str
    stage: str
    attempt: Count
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Run:
    """One run of a study.

    Attributes:
        started_at: start of the run, informative only.
        seconds: time from the start until this was written, by a monotonic clock.
        end: how the run ended; None while it runs, and for ever if it was killed.
        budget: limit -> its value in this run; None for no limit.
        trials_per_search: planned trials of each search in this run.
        ended_searches: id of each search whose share of the budget was used up -> its trials then.
        spent: what attempts took, by search, stage and use.
        cancelled_searches: id of each search that the user cancelled -> its trials then.
        seconds_left: estimated time until the study or its budget ends; None if not known.
        part_done: part of the seconds of all trials that is done, in [0, 1]; None if not known.
        running: trials that workers had when this was written; empty once the run ended.
        journal_lines: search id -> lines that its journal has at least, once the run ended.
    """

    number: Count
    started_at: AwareDatetime
    host: str
    pid: Count
    podium_version: str
    seconds: NonNegativeFloat
    end: RunEnding | None
    budget: Mapping[str, NonNegativeFloat | None]
    trials_per_search: Count
    ended_searches: Mapping[str, Count] = field(default_factory=dict)
    spent: tuple[RunSpent, ...] = ()
    cancelled_searches: Mapping[str, Count] = field(default_factory=dict)
    seconds_left: NonNegativeFloat | None = None
    part_done: NonNegativeFloat | None = None
    running: tuple[StartedTrial, ...] = ()
    journal_lines: Mapping[str, Count] = field(default_factory=dict)


_ADAPTER = TypeAdapter(Run)


def write_run(paths: StudyPaths, run: Run) -> None:
    """Write a run: when it starts, every few seconds, and when it ends."""
    write_checksummed(paths.run(run.number), _ADAPTER.dump_python(run, mode="json"))


def read_runs(paths: StudyPaths) -> list[Run]:
    """Every run of the study, in order.

    Raises:
        CorruptFileError: a file is missing, truncated, was changed, or is not the run its name
            says.
    """
    files, runs = list_files(paths.runs, ".json"), list[Run]()
    for file, values in zip(files, each(read_checksummed, files), strict=True):
        if file != (due := paths.run(len(runs) + 1)):
            raise CorruptFileError(
                f"{due} is missing, while there is {files[-1].name}: what it spent would be spent"
                " again. Restore the file from a copy"
            )
        run = parsed(_ADAPTER, json.dumps(values).encode(), str(file), "run")
        if run.number != len(runs) + 1:
            raise CorruptFileError(
                f"{file} holds the run {run.number}, which does not match its name"
            )
        runs.append(run)
    return runs


def next_number(paths: StudyPaths) -> int:
    """The number of a run that begins now, while no other run begins."""
    stems = [file.stem for file in list_files(paths.runs, ".json")]
    numbers = [int(stem) for stem in stems if stem.isdecimal()]
    return max(numbers, default=0) + 1


def ended_searches(runs: Iterable[Run], budget: Mapping[str, float | None]) -> dict[str, int]:
    """Searches whose share was used up under at least this budget -> trials they had.

    They stay ended although finals turned out cheaper than what was reserved for them, so that
    nothing is searched after a winner was tested. A larger budget opens them again.
    """
    ended: dict[str, int] = {}
    for run in runs:
        if not is_larger(budget, run.budget):
            ended |= run.ended_searches
    return ended


def is_larger(budget: Mapping[str, float | None], before: Mapping[str, float | None]) -> bool:
    """Whether a limit of hours is larger than before; one that is missing or None is infinite."""
    return any(_limit(budget.get(name)) > _limit(before.get(name)) for name in HOURS)


def _limit(hours: float | None) -> float:
    return math.inf if hours is None else hours

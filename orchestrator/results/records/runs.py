"""Runs: each start of the study or of a part of it, with what it spent and how it ended.

Numbers count from 1. Number 0 is no run: it holds an estimate of what was spent before podium
recorded runs, in folders of such versions. ``runs.json`` holds the last number, so that runs that
were lost are noticed: a budget must not be spent anew. Folders of older versions have none.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from orchestrator.results.records.json_records import (
    FileName,
    RecordKind,
    amount,
    checked,
    checked_row,
    count,
    optional,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from orchestrator.results.storage.files import list_names
from podium.errors import CorruptFileError, PodiumError

HOURS = ("gpu_hours", "wall_hours")
"""Limits of time in a budget."""
ESTIMATE = 0
"""Number of the estimate of what was spent before runs were recorded."""

_LIMITS = ("gpu_hours", "wall_hours", "trials")

RunEnding = Literal["finished", "interrupted", "budget", "error", "estimate"]
Use = Literal[
    "complete",  # became the row of a trial that ended by itself
    "pruned",  # became the row of a trial that was stopped early
    "failed",  # became the row of a failed trial, which may have been retried since
    "repeated",  # was lost with its worker or node, or made again for another reason
    "unfinished",  # was left when the run ended
]


_PART = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")
_PART_NAME = re.compile(r"(\d+)-of-(\d+)")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The part of a study's blocks that one run drives, the i-th of n: every n-th block.

    Attributes:
        number: which part, from 1.
        of: number of parts; of a run that drives the whole study it is 1.
    """

    number: int
    of: int

    def __str__(self) -> str:
        """``2/3``."""
        return f"{self.number}/{self.of}"

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole study."""
        return self.of == 1

    @property
    def name(self) -> str:
        """The part in names of files: ``2-of-3``."""
        return f"{self.number}-of-{self.of}"

    @property
    def all(self) -> "tuple[Part, ...]":
        """The parts that it makes up the study with, itself included, in order."""
        return tuple(Part(number, self.of) for number in range(1, self.of + 1))

    @classmethod
    def named(cls, name: str) -> "Part | None":
        """The part whose files have a name; None if it is none of a part."""
        found = _PART_NAME.fullmatch(name)
        return cls(int(found[1]), int(found[2])) if found else None


WHOLE = Part(1, 1)
"""The whole study."""


def parse_part(text: str) -> Part:
    """The part that a text such as ``2/3`` names.

    Raises:
        PodiumError: it is no part.
    """
    found = _PART.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise PodiumError(
            f"a part must be i/n with whole numbers and 1 <= i <= n, such as 2/3; got {text!r}"
        )
    return Part(int(found[1]), int(found[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpent:
    """What attempts at trials of one search, stage and use took together.

    Attributes:
        search: id of the search.
        stage: stage of the trials.
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
    tries: int
    seconds: float
    cpu_seconds: float
    gpu_seconds: float
    whole_tries: int
    whole_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedTrial:
    """A trial that a worker has.

    Attributes:
        trial_id: id of the trial.
        search: id of its search.
        stage: stage of the trial.
        attempt: number of the attempt, from 1.
    """

    trial_id: FileName
    search: str
    stage: str
    attempt: int


def _budget(name: str, limits: Any) -> dict[str, float | None]:
    if not isinstance(limits, dict) or limits.keys() != set(_LIMITS):
        raise ValueError(f"{name} must hold {', '.join(_LIMITS)}")
    return {limit: optional(amount)(f"{name}.{limit}", hours) for limit, hours in limits.items()}


def _trials(name: str, searches: Any) -> dict[str, int]:
    if not isinstance(searches, dict):
        raise ValueError(f"{name} must hold the trials of searches")
    return checked(searches, dict.fromkeys(searches, count))


def _spent(name: str, rows: Any) -> tuple[RunSpent, ...]:
    if not isinstance(rows, list):
        raise ValueError(f"{name} must be a list")
    return tuple(checked_row(RunSpent, name, row) for row in rows)


def _running(name: str, rows: Any) -> tuple[StartedTrial, ...]:
    if not isinstance(rows, list):
        raise ValueError(f"{name} must be a list")
    return tuple(checked_row(StartedTrial, name, row) for row in rows)


def _part(name: str, values: Any) -> Part:
    if not isinstance(values, dict) or values.keys() != {"number", "of"}:
        raise ValueError(f"{name} must hold number and of")
    part = Part(**checked(values, {"number": count, "of": count}))
    if not 1 <= part.number <= part.of:
        raise ValueError(f"{name} must be one of 1 to n; got {part}")
    return part


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a study.

    Attributes:
        number: number of the run, from 1.
        started_at: start of the run, informative only.
        host: name of the machine.
        pid: id of the process of the run.
        podium_version: version that ran.
        seconds: time from the start until this was written, by a monotonic clock.
        end: how the run ended; None while it runs, and for ever if it was killed.
        budget: limit -> its value in this run; None for no limit.
        trials_per_search: planned trials of each search in this run.
        ended_searches: id of each search whose share of the budget was used up -> its trials then.
        spent: what attempts took, by search, stage and use.
        cancelled_searches: id of each search that the user cancelled -> its trials then.
        slots: number of trials that fit at a time when this was written; None if not known.
        seconds_left: estimated time until the study or its budget ends; None if not known.
        part_done: part of the seconds of all trials that is done, in [0, 1]; None if not known.
        running: trials that workers had when this was written; empty once the run ended.
        part: which blocks it drives.
    """

    number: int
    started_at: datetime
    host: str
    pid: int
    podium_version: str
    seconds: float
    end: RunEnding | None
    budget: Annotated[Mapping[str, float | None], _budget]
    trials_per_search: int
    ended_searches: Annotated[Mapping[str, int], _trials] = field(default_factory=dict)
    spent: Annotated[tuple[RunSpent, ...], _spent] = ()
    cancelled_searches: Annotated[Mapping[str, int], _trials] = field(default_factory=dict)
    slots: int | None = None
    seconds_left: float | None = None
    part_done: float | None = None
    running: Annotated[tuple[StartedTrial, ...], _running] = ()
    part: Annotated[Part, _part] = WHOLE


_KIND = RecordKind(
    make=Run,
    name="run",
    plural="runs",
    title="run {0.number}",
    place=lambda paths, it: paths.run(it.number),
    may_lack_defaults=True,  # the cancelled searches, what runs, and the part
    left_out=("part",),
)


def write_run(paths: StudyPaths, run: Run) -> None:
    """Write a run: when it starts, every few seconds, and when it ends."""
    _KIND.write(paths, run)


def write_run_count(paths: StudyPaths, number: int) -> None:
    """Write down that runs up to this number began, once the first account of it is written."""
    write_checksummed(paths.run_count, {"runs": number})


def read_runs(paths: StudyPaths) -> list[Run]:
    """Every run of the study, in order.

    Raises:
        CorruptFileError: a file is missing, truncated, was changed, or is not the run its name
            says.
    """
    # Read before the listing: a run that begins meanwhile has its account before it is counted.
    last = _run_count(paths)
    files = [paths.runs / name for name in list_names(paths.runs, ".json")]
    runs = sorted(_KIND.read_many(paths, files), key=lambda run: run.number)
    _check_complete(paths, [run.number for run in runs if run.number != ESTIMATE], last)
    return runs


def next_number(paths: StudyPaths) -> int:
    """The number of a run that begins now, while no other run begins."""
    names = list_names(paths.runs, ".json")
    numbers = [int(stem) for name in names if (stem := name.removesuffix(".json")).isdecimal()]
    return max(numbers, default=ESTIMATE) + 1


def latest_runs(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs by which a study is as it is: the last one, or the last of each part.

    Args:
        runs: all runs of the study, in order.

    Returns:
        By part; of a part that did not begin since the study was last run otherwise, none.
    """
    latest: dict[Part, Run] = {}
    for run in runs:
        if any(part.of != run.part.of for part in latest):
            latest.clear()
        latest[run.part] = run
    return tuple(latest[part] for part in sorted(latest))


def cancelled_searches(runs: Sequence[Run]) -> dict[str, int]:
    """Id of each search that the user cancelled -> its trials then, as the latest runs have it.

    Args:
        runs: all runs of the study, in order.
    """
    return {name: had for run in latest_runs(runs) for name, had in run.cancelled_searches.items()}


def ended_searches(runs: Iterable[Run], budget: Mapping[str, float | None]) -> dict[str, int]:
    """Searches whose share was used up under at least this budget -> trials they had.

    They stay ended although finals turned out cheaper than what was reserved for them, so that
    nothing is searched after a winner was tested. A larger budget opens them again.

    Args:
        runs: earlier runs of the study.
        budget: limits that the study has now; a limit that is missing or None is infinite.
    """
    ended: dict[str, int] = {}
    for run in runs:
        if not is_larger(budget, run.budget):
            ended |= run.ended_searches
    return ended


def wall_seconds_of(runs: Iterable[Run], part: Part = WHOLE) -> float:
    """Seconds that runs took one after the other.

    Those of parts are side by side, so of each number of parts the seconds of one count: of the
    part that is asked for, and otherwise of the one that took longest.

    Args:
        runs: runs of the study.
        part: whose seconds are wanted; by default those of the whole study.
    """
    of_parts: defaultdict[int, defaultdict[Part, float]] = defaultdict(lambda: defaultdict(float))
    for run in runs:
        of_parts[run.part.of][run.part] += run.seconds
    return sum(
        seconds[part] if part.of == of and not part.is_whole else max(seconds.values())
        for of, seconds in of_parts.items()
    )


def _run_count(paths: StudyPaths) -> int:
    values = read_checksummed(paths.run_count)
    if values is None:
        return 0
    try:
        return count("runs", values.get("runs"))
    except ValueError as error:
        raise CorruptFileError(
            f"{paths.run_count} does not hold the number of runs: {error}"
        ) from error


def _check_complete(paths: StudyPaths, numbers: Sequence[int], last: int) -> None:
    """Refuse runs of which one is missing."""
    gaps = (number for number, found in enumerate(numbers, start=1) if number != found)
    missing = next(gaps, len(numbers) + 1)
    if missing <= max([last, *numbers]):
        raise CorruptFileError(
            f"{paths.run(missing)} is missing, while there were {max([last, *numbers])} runs: what"
            " it spent would be spent again. Restore the file from a copy; if there is none,"
            f" delete {paths.runs.name}/ and {paths.run_count.name}: then what was spent is"
            " estimated from the trials"
        )


def is_larger(budget: Mapping[str, float | None], before: Mapping[str, float | None]) -> bool:
    """Whether a limit of hours is larger than before; one that is missing or None is infinite."""
    return any(_limit(budget.get(name)) > _limit(before.get(name)) for name in HOURS)


def _limit(hours: float | None) -> float:
    return math.inf if hours is None else hours

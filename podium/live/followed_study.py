"""A study followed by its results folder, wherever it runs."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import polars as pl

from podium.errors import StudyError
from podium.live.stored_studies import ENDED, State, ended_state, planned_trials, running_owner
from podium.orchestrator.results.records.metric_columns import short_label
from podium.orchestrator.results.records.runs import (
    Run,
    StartedTrial,
    Use,
    ended_searches,
    read_runs,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import exists, read_bytes, stored_files
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.study_control import control_text, read_control, search_names
from podium.orchestrator.scheduling.study_progress import (
    SearchProgress,
    StudyProgress,
    budget_uses,
)
from podium.orchestrator.study.blocks import (
    SECONDS_PER_HOUR,
    most_finals,
    searches,
    trials_per_search,
)
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.orchestrator.study.study import Control
from podium.orchestrator.trials.failure_causes import FailureTally
from podium.orchestrator.worker.trial_log import epoch_scores

_COLUMNS = ("trial_id", "search", "stage", "state", "cause", "message", "objective", "same_as")
_NUM_FAILURES = 50
_NUM_RUNNING_CURVES, _NUM_ENDED_CURVES = 24, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyView:
    """A study as its results folder shows it at one moment.

    Attributes:
        state: what becomes of the study, or became of it.
        running_on: name of the machine on which it runs; None if it does not.
        spent: what became of attempts -> their number ``tries``, ``trial_hours``, ``gpu_hours``.
        wall_hours: hours of all runs.
        failures: ``trial_id``, ``search``, ``stage``, ``cause`` and ``message`` of trials that
            failed, the latest first, at most so many as are shown.
        changes: what ``control.yaml`` changes, or what is wrong with it; empty for nothing.
    """

    name: str
    folder: str
    state: State
    running_on: str | None
    progress: StudyProgress
    spent: Mapping[str, Mapping[str, float]]
    wall_hours: float
    num_runs: int
    failures: Sequence[Mapping[str, str]]
    changes: str
    has_report: bool


class FollowedStudy:
    """Looks at a results folder again and again; rows are read again only where files changed.

    Args:
        folder: results folder of a study that was started.

    Raises:
        PodiumError: it is not a results folder.
    """

    def __init__(self, folder: Place) -> None:
        self._paths = StudyPaths(folder)
        self._open()

    def _open(self) -> None:
        self._study_file = read_bytes(self._paths.study)
        self._reader = Reader(self._paths.folder)
        self._study = study_from_resolved(self._reader.study())
        self._names = search_names(self._study)
        self._num_planned = trials_per_search(self._study)
        self._files: object = None  # whose rows were read
        self._rows = pl.DataFrame()
        self._started: Sequence[StartedTrial] = ()
        self._ended_curves: dict[str, Mapping[str, Any]] = {}

    def view(self) -> StudyView:
        """What the folder shows now.

        Raises:
            PodiumError: a file is damaged, or the folder cannot be read.
        """
        paths = self._paths
        if read_bytes(paths.study) != self._study_file:
            self._open()  # the study has grown
        files = stored_files(paths.trials)
        if files != self._files:
            rows = self._reader.summarise(lambda rows: rows.select(*_COLUMNS, "ended_at"))
            self._rows, self._files = rows.sort("ended_at", descending=True), files
        runs = read_runs(paths)
        owner = running_owner(paths, [file.changed_at for file in stored_files(paths.runs)])
        run = runs[-1] if owner and runs else None
        known = set(self._rows["trial_id"])
        self._started = [it for it in (run.running if run else ()) if it.trial_id not in known]
        control, changes = self._control()
        gpu_seconds = sum(spent.gpu_seconds for run in runs for spent in run.spent)
        failed = self._rows.filter(pl.col("state") == "FAILED")
        num_trials, planned = self._rows.height, planned_trials(self._study)
        state: State = "running" if owner else ended_state(runs, num_trials, failed.height)
        return StudyView(
            name=self._study.name,
            folder=str(paths.folder),
            state=state,
            running_on=owner.host if owner else None,
            progress=StudyProgress(
                searches=self._searches(runs, control, is_over=state in ENDED),
                trials_done=num_trials,
                trials_planned=num_trials if state in ENDED else planned,
                running=len(self._started),
                failed=failed.height,
                seconds_left=run.seconds_left if run else None,
                part_done=run.part_done if run else None,
                score=short_label(self._reader.objective, self._study.ks[0]),
                failures=_causes(failed),
                budget=budget_uses(
                    control.budget(self._study.budget),
                    gpu_seconds,
                    sum(run.seconds for run in runs),
                    self._rows["same_as"].null_count(),
                ),
            ),
            spent=spent_hours(runs),
            wall_hours=sum(run.seconds for run in runs) / SECONDS_PER_HOUR,
            num_runs=len(runs),
            failures=[
                {name: row[name] or "" for name in _COLUMNS[:6]}
                | {"search": self._names.get(row["search"], row["search"])}
                for row in failed.head(_NUM_FAILURES).iter_rows(named=True)
            ],
            changes=changes,
            has_report=exists(paths.report),
        )

    def curves(self) -> Sequence[Mapping[str, Any]]:
        """Learning curves of trials that ran at the last view, then of the last that ended.

        Each has ``search``, ``stage``, ``state``, ``where``, and validation ``scores`` as fold,
        epoch and score.
        """
        return (*self._running_curves(), *self._last_curves())

    def _control(self) -> tuple[Control, str]:
        """What ``control.yaml`` changes, and that in words; nothing if it is wrong, but why."""
        try:
            control = read_control(self._study, self._paths)
        except StudyError as error:
            return Control(), str(error)
        changes = "" if control == Control() else control_text(self._study, control)
        return control, changes

    def _searches(
        self, runs: Sequence[Run], control: Control, *, is_over: bool
    ) -> tuple[SearchProgress, ...]:
        is_search, is_final = pl.col("stage") == "search", pl.col("stage") == "final"
        is_complete = is_search & (pl.col("state") == "COMPLETE")
        counts = self._rows.group_by("search").agg(
            done=is_search.sum(),
            pruned=(is_search & (pl.col("state") == "PRUNED")).sum(),
            failed=((is_search | is_final) & (pl.col("state") == "FAILED")).sum(),
            best=pl.col("objective").filter(is_complete).max(),
            finals_done=is_final.sum(),
        )
        found = {row.pop("search"): row for row in counts.iter_rows(named=True)}
        nothing = {"done": 0, "pruned": 0, "failed": 0, "best": None, "finals_done": 0}
        num_running = Counter(trial.search for trial in self._started)
        cut_short = ended_searches(runs, asdict(self._study.budget))
        shown = []
        for search in searches(self._study):
            count = found.get(search.id, nothing)
            # Finals begin once a search is over, whose space may have had fewer configs.
            is_searched = is_over or count["finals_done"] > 0
            finals = count["finals_done"] if is_over else most_finals(self._study, search)
            progress = SearchProgress(
                id=search.id,
                name=self._names[search.id],
                planned=count["done"] if is_searched else self._num_planned,
                running=num_running[search.id],
                duplicates=0,
                finals_planned=finals,
                is_cut_short=cut_short.get(search.id, math.inf) < self._num_planned,
                is_cancelled=search.id in control.cancelled,
                **count,
            )
            shown.append(progress)
        return tuple(shown)

    def _running_curves(self) -> Iterator[Mapping[str, Any]]:
        """Curves of the trials that run, by their logs."""
        for trial in self._started[:_NUM_RUNNING_CURVES]:
            log = read_bytes(self._paths.trial_log(trial.trial_id)) or b""
            scores = epoch_scores(log.decode(errors="replace"))
            yield {
                "search": self._names.get(trial.search, trial.search),
                "stage": trial.stage,
                "state": "RUNNING",
                "where": trial.where,
                "scores": [(*key, score) for key, score in sorted(scores.items())],
            }

    def _last_curves(self) -> Sequence[Mapping[str, Any]]:
        """Curves of the trials that ended last; of those that are new the scores are read."""
        trained = self._rows.filter(pl.col("stage") != "baseline", pl.col("same_as").is_null())
        last, known = trained.head(_NUM_ENDED_CURVES).to_dicts(), self._ended_curves
        new = {row["trial_id"]: row["search"] for row in last if row["trial_id"] not in known}
        scores = dict(self._reader.decisive_scores(new).iter_rows()) if new else {}
        wanted = ("val", self._reader.objective, self._study.ks[0])
        self._ended_curves = {
            row["trial_id"]: known.get(row["trial_id"])
            or {
                "search": self._names.get(row["search"], row["search"]),
                "stage": row["stage"],
                "state": row["state"],
                "where": "",
                "scores": sorted(
                    (score["fold"], score["epoch"], score["value"])
                    for score in scores.get(row["trial_id"], ())
                    if (score["role"], score["metric"], score["k"]) == wanted
                ),
            }
            for row in last
        }
        return tuple(self._ended_curves.values())


def spent_hours(runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """Use of attempts -> ``tries``, ``trial_hours`` and ``gpu_hours`` of all runs."""
    of_use = {
        use: [it for run in runs for it in run.spent if it.use == use] for use in get_args(Use)
    }
    return {
        use: {
            "tries": sum(it.tries for it in spent),
            "trial_hours": sum(it.seconds for it in spent) / SECONDS_PER_HOUR,
            "gpu_hours": sum(it.gpu_seconds for it in spent) / SECONDS_PER_HOUR,
        }
        for use, spent in of_use.items()
    }


def _causes(failed: pl.DataFrame) -> tuple[str, ...]:
    """A line for each cause, as of a run."""
    tally = FailureTally()
    for row in failed.reverse().iter_rows(named=True):
        tally.add(row["cause"], row["message"])
    return tally.lines()

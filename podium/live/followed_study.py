"""A study followed by its results folder, wherever it runs."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import polars as pl

from orchestrator.results.locks.lock_owner import LockOwner
from orchestrator.results.records.attempts import read_attempt
from orchestrator.results.records.metric_columns import short_label
from orchestrator.results.records.runs import (
    Part,
    Run,
    StartedTrial,
    latest_runs,
    read_runs,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import file_size, read_record, stored_files
from orchestrator.results.storage.locations import Place, StoredFile
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.stored_studies import (
    State,
    ended_state,
    hosts_text,
    running_owners,
)
from orchestrator.results_tools.study_spending import budget_use, estimated_runs
from orchestrator.run.study_control import control_text, parsed_control, search_names
from orchestrator.scheduling.study_progress import BudgetUse, SearchProgress, StudyProgress
from orchestrator.study.blocks import blocks, most_finals, num_baseline_runs, searches
from orchestrator.study.budget import SECONDS_PER_HOUR, trials_per_search
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import Control, Study
from orchestrator.worker.trial_log import epoch_scores
from podium.errors import StudyError
from podium.live.followed_trials import FollowedTrials
from podium.live.study_view import ENDED, Failure, LearningCurve, SpentAt, StudyView

_NUM_FAILURES = 50
_NUMENDED_CURVES = 8
_NUM_RUNNING_CURVES = 64
_NUM_MOMENTS = 200


class FollowedStudy:
    """Reads a results folder again and again; each time only what changed.

    Args:
        folder: results folder of a study that was started.

    Raises:
        PodiumError: it is not a results folder.
    """

    def __init__(self, folder: Place) -> None:
        self._paths = StudyPaths(folder)
        self._open()

    def _open(self) -> None:
        self._study_file = read_record(self._paths.study)
        self._reader = Reader(self._paths.folder)
        self._study = study_from_resolved(self._reader.study())
        self._plan = _Plan(self._study)
        self._trials = FollowedTrials(self._paths, self._reader)
        self._run_files: Sequence[StoredFile] | None = None
        self._runs: Sequence[Run] = ()
        self._budget: Sequence[BudgetUse] = ()
        self._control_file: bytes | None = None
        self._control, self._control_text = Control(), ""
        self._control_problem: str | None = None
        self._running_curves: dict[str, _RunningCurve] = {}
        self._ended_curves: dict[str, LearningCurve] = {}
        self._old_report = 0
        self._of_rows = _OfRows(self._plan, self._trials.rows)

    def view(self) -> StudyView:
        """What the folder shows now; a file of one trial that is damaged is left out.

        Raises:
            PodiumError: another file is damaged, or the folder cannot be read.
        """
        # First: a report that is written while others are read is not of an earlier end.
        report_bytes = file_size(self._paths.report)
        run_files = stored_files(self._paths.runs)
        have_run = run_files != self._run_files
        if have_run and read_record(self._paths.study) != self._study_file:
            self._open()  # the study has grown
        has_changed = self._trials.read()
        if has_changed:
            self._of_rows = _OfRows(self._plan, self._trials.rows)
        owners = running_owners(self._paths, [file.changed_at for file in run_files])
        if have_run:
            self._runs = read_runs(self._paths)
        if has_changed or have_run:
            # Without recorded runs the estimate is made of all rows, once.
            runs = self._runs or estimated_runs(self._study, self._reader)
            self._budget = budget_use(self._study, runs, self._of_rows.num_trained)
        self._run_files = run_files
        self._read_control()
        return self._view(owners, report_bytes)

    def _read_control(self) -> None:
        """Take in ``control.yaml`` as the run does: what is wrong with it changes nothing."""
        content = read_record(self._paths.control)
        if content == self._control_file:
            return
        self._control_file, self._control_problem = content, None
        try:
            self._control = parsed_control(content, self._study, str(self._paths.control))
        except StudyError as error:
            self._control_problem = str(error)
            return
        text = control_text(self._study, self._control)
        self._control_text = "" if self._control == Control() else text

    def _view(self, owners: Mapping[Part, LockOwner], report_bytes: int) -> StudyView:
        found = self._of_rows
        runs = [run for run in latest_runs(self._runs) if run.part in owners]
        started = (trial for run in runs for trial in run.running)
        running = tuple(it for it in started if it.trial_id not in self._trials)
        state = self._state(is_running=bool(owners))
        problems = (self._trials.problem, self._control_problem)
        return StudyView(
            name=self._study.name,
            folder=str(self._paths.folder),
            state=state,
            running_on=hosts_text(owners),
            progress=self._progress(runs, running, state),
            search_ids=tuple(self._plan.searches),
            slots=sum(run.slots or 0 for run in runs) or None,
            curves=(*self._present_curves(running), *self._last_curves()),
            failures=found.failures,
            spent=found.spent,
            control=self._control,
            control_text=self._control_text,
            has_report=self._has_report(state, report_bytes),
            problem="; ".join(filter(None, problems)) or None,
        )

    def _state(self, *, is_running: bool) -> State:
        if is_running:
            return "running"
        found = self._of_rows
        return ended_state(
            self._paths, self._runs, found.num_trials, self._plan.num_trials, found.num_failed
        )

    def _has_report(self, state: State, report_bytes: int) -> bool:
        """Whether there is a report of the study as it ended.

        One that was there before the study ended is of an earlier end, until its size changes.
        """
        if state not in ENDED:
            self._old_report = report_bytes
        return report_bytes not in (0, self._old_report)

    def _progress(
        self, runs: Sequence[Run], running: Sequence[StartedTrial], state: State
    ) -> StudyProgress:
        found = self._of_rows
        is_over = state in ENDED
        num_running = Counter(trial.search for trial in running)
        limits = self._control.budget(self._study.budget)
        of_unit = {"GPU-hours": limits.gpu_hours, "hours": limits.wall_hours}
        return StudyProgress(
            searches=tuple(
                self._search(search_id, search, num_running[search_id], is_over=is_over)
                for search_id, search in found.searches.items()
            ),
            trials_done=found.num_trials,
            trials_planned=found.num_trials if is_over else self._plan.num_trials,
            running=len(running),
            failed=found.num_failed,
            seconds_left=_seconds_left(runs),
            score=short_label(self._reader.objective, self._study.ks[0]),
            failures=found.failure_lines,
            budget=tuple(
                replace(use, limit=of_unit.get(use.what, use.limit)) for use in self._budget
            ),
        )

    def _search(
        self, search_id: str, found: SearchProgress, running: int, *, is_over: bool
    ) -> SearchProgress:
        # Finals begin once a search is over, whose space may have had fewer configs than planned.
        is_searched = is_over or found.finals_done > 0
        return replace(
            found,
            planned=found.done if is_searched else found.planned,
            finals_planned=found.finals_done if is_over else found.finals_planned,
            running=running,
            is_cancelled=search_id in self._control.cancelled,
        )

    def _present_curves(self, running: Sequence[StartedTrial]) -> Iterator[LearningCurve]:
        """Curves of the trials that run."""
        known = self._running_curves
        self._running_curves = {
            trial.trial_id: known[trial.trial_id]
            if trial.trial_id in known and known[trial.trial_id].trial == trial
            else _RunningCurve(self._paths, trial, self._plan.name_of(trial.search))
            for trial in running[:_NUM_RUNNING_CURVES]
        }
        return (curve.read() for curve in self._running_curves.values())

    def _last_curves(self) -> Sequence[LearningCurve]:
        """Curves of the trials that ended last; of those that are new the scores are read."""
        last = self._of_rows.last.to_dicts()
        known = self._ended_curves
        new = [row["trial_id"] for row in last if row["trial_id"] not in known]
        scores = self._trials.column_of(new, "scores") if new else {}
        wanted = ("val", self._reader.objective, self._study.ks[0])
        self._ended_curves = {
            row["trial_id"]: known.get(row["trial_id"])
            or LearningCurve(
                trial_id=row["trial_id"],
                search_id=row["search"],
                search=self._plan.name_of(row["search"]),
                stage=row["stage"],
                state=row["state"],
                scores={
                    (score["fold"], score["epoch"]): score["value"]
                    for score in scores.get(row["trial_id"], ())
                    if (score["role"], score["metric"], score["k"]) == wanted
                },
            )
            for row in last
        }
        return tuple(self._ended_curves.values())


def _seconds_left(runs: Sequence[Run]) -> float | None:
    """Seconds until the last of some runs ends; None while one of them does not know."""
    known = [run.seconds_left for run in runs if run.seconds_left is not None]
    return max(known) if known and len(known) == len(runs) else None


class _RunningCurve:
    """The curve of a trial that runs; its log is parsed again only where it changed."""

    def __init__(self, paths: StudyPaths, trial: StartedTrial, name: str) -> None:
        self.trial = trial
        self._paths = paths
        self._log: bytes | None = None
        self._curve = LearningCurve(
            trial_id=trial.trial_id,
            search_id=trial.search,
            search=name,
            stage=trial.stage,
            state="RUNNING",
            scores={},
        )

    def read(self) -> LearningCurve:
        trial = self.trial
        if self._curve.node is None:
            attempt = read_attempt(self._paths, trial.trial_id, trial.attempt)
            if attempt is not None:
                self._curve = replace(
                    self._curve,
                    node=attempt.node,
                    device=attempt.device,
                    gpus=attempt.gpus or 0.0,
                )
        log = read_record(self._paths.trial_log(trial.trial_id))
        if log != self._log:
            self._log = log
            text = (log or b"").decode(errors="replace")
            self._curve = replace(self._curve, scores=epoch_scores(text))
        return self._curve


class _Plan:
    """What a study plans, whatever its rows are.

    Attributes:
        searches: search id -> what is known of it before it began.
        gpus: search id -> GPUs that each of its trials occupies.
        num_trials: number of trials of all stages, at most.
    """

    def __init__(self, study: Study) -> None:
        names, of_each, found = search_names(study), trials_per_search(study), searches(study)
        self.searches = {
            search_id: SearchProgress(
                name=name,
                planned=of_each,
                done=0,
                running=0,
                pruned=0,
                failed=0,
                duplicates=0,
                best=None,
                finals_done=0,
                finals_planned=most_finals(study, search),
            )
            for (search_id, name), search in zip(names.items(), found, strict=True)
        }
        self.gpus = {
            search_id: demand_of(study, search.block).gpus
            for search_id, search in zip(names, found, strict=True)
        }
        baselines = len(blocks(study)) * num_baseline_runs(study, found[0])
        planned = (it.planned + it.finals_planned for it in self.searches.values())
        self.num_trials = sum(planned) + baselines

    def name_of(self, search_id: str) -> str:
        """The name of a search; its id where the study has no such search."""
        search = self.searches.get(search_id)
        return search_id if search is None else search.name


class _OfRows:
    """What follows from the rows of trials, computed once for each state of them."""

    def __init__(self, plan: _Plan, rows: pl.DataFrame) -> None:
        self._plan = plan
        self._rows = rows

    @property
    def num_trials(self) -> int:
        """Committed trials of all stages."""
        return self._rows.height

    @cached_property
    def num_trained(self) -> int:
        """Committed trials without copies."""
        return self._rows["same_as"].null_count()

    @property
    def num_failed(self) -> int:
        """Failed trials of all stages."""
        return self._failed.height

    @cached_property
    def searches(self) -> Mapping[str, SearchProgress]:
        """Search id -> its counts, but for what runs."""
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
        return {
            search_id: replace(search, **found.get(search_id, {}))
            for search_id, search in self._plan.searches.items()
        }

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """The trials that failed last, the latest first."""
        rows = self._failed.sort("ended_at", descending=True).head(_NUM_FAILURES)
        return tuple(
            Failure(
                trial_id=row["trial_id"],
                search=self._plan.name_of(row["search"]),
                stage=row["stage"],
                cause=row["cause"] or "",
                message=row["message"] or "",
                ended_at=row["ended_at"],
            )
            for row in rows.iter_rows(named=True)
        )

    @cached_property
    def failure_lines(self) -> tuple[str, ...]:
        """A line for each cause: its first message, and how many more there are."""
        causes = (
            self._failed.sort("ended_at")
            .group_by("cause", maintain_order=True)
            .agg(pl.col("message").first(), pl.len())
        )
        return tuple(
            f"{cause}: {message}" + (f" (and {count - 1} more)" if count > 1 else "")
            for cause, message, count in causes.iter_rows()
        )

    @cached_property
    def _failed(self) -> pl.DataFrame:
        return self._rows.filter(pl.col("state") == "FAILED")

    @cached_property
    def last(self) -> pl.DataFrame:
        """The trained trials that ended last, the latest first."""
        trained = self._rows.filter(pl.col("stage") != "baseline", pl.col("same_as").is_null())
        return trained.top_k(_NUMENDED_CURVES, by="ended_at").sort("ended_at", descending=True)

    @cached_property
    def spent(self) -> tuple[SpentAt, ...]:
        """What was spent when trials ended, at evenly many of them, the last included."""
        hours = pl.col("seconds").fill_null(0.0) / SECONDS_PER_HOUR
        of_search = pl.col("search").replace_strict(
            list(self._plan.gpus),
            list(self._plan.gpus.values()),
            default=0.0,
            return_dtype=pl.Float64,
        )
        sums = (
            self._rows.filter(pl.col("same_as").is_null())
            .sort("ended_at")
            .select(
                "ended_at",
                trials=pl.int_range(1, pl.len() + 1),
                trial_hours=hours.cum_sum(),
                gpu_hours=(hours * of_search).cum_sum(),
            )
        )
        step = max(1, math.ceil(sums.height / _NUM_MOMENTS))
        shown = sums.filter((sums.height - pl.col("trials")) % step == 0)
        return tuple(
            SpentAt(at=at, trials=trials, trial_hours=spent, gpu_hours=of_gpus)
            for at, trials, spent, of_gpus in shown.iter_rows()
        )

"""A study followed by its results folder, wherever it runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import polars as pl

from orchestrator.results.locks.lock_owner import LockOwner
from orchestrator.results.records.attempts import read_attempt
from orchestrator.results.records.metric_columns import short_label
from orchestrator.results.records.runs import Run, StartedTrial, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists, read_record, stored_files
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.stored_studies import State, ended_state, running_owner
from orchestrator.results_tools.study_spending import spent_status
from orchestrator.run.study_control import control_text, read_control, search_names
from orchestrator.scheduling.study_progress import BudgetUse, SearchProgress, StudyProgress
from orchestrator.study.blocks import blocks, most_finals, num_baseline_runs, searches
from orchestrator.study.budget import SECONDS_PER_HOUR, trials_per_search
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import Control, Study
from orchestrator.worker.trial_log import epoch_scores
from podium.live.followed_trials import FollowedTrials
from podium.live.study_view import Failure, LearningCurve, SpentAt, StudyView

_NUM_FAILURES = 50
_NUM_ENDED_CURVES = 8
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
        self._names = search_names(self._study)
        self._trials = FollowedTrials(self._paths, self._reader)
        self._run_files: object = None
        self._runs: Sequence[Run] = ()
        self._budget: Sequence[BudgetUse] = ()
        self._ended_curves: dict[str, LearningCurve] = {}
        self._of_rows = _OfRows(self._study, self._names, self._trials.rows)

    def view(self) -> StudyView:
        """What the folder shows now.

        Raises:
            PodiumError: a file is damaged, or the folder cannot be read.
        """
        run_files = stored_files(self._paths.runs)
        if run_files != self._run_files and read_record(self._paths.study) != self._study_file:
            self._open()  # the study has grown
        has_changed = self._trials.read()
        if has_changed:
            self._of_rows = _OfRows(self._study, self._names, self._trials.rows)
        owner = running_owner(self._paths, [file.changed_at for file in run_files])
        if run_files != self._run_files:
            self._runs = read_runs(self._paths)
        if has_changed or run_files != self._run_files:
            self._budget = spent_status(
                self._study, self._paths.folder, self._reader, self._of_rows.num_trained
            ).budget
        self._run_files = run_files
        return self._view(owner)

    def log_of(self, trial_id: str) -> str | None:
        """The text of the log file of a trial; None if there is none.

        Raises:
            ValueError: that cannot be the id of a trial.
            StoreError: it cannot be read.
        """
        content = read_record(self._paths.trial_log(trial_id))
        return None if content is None else content.decode(errors="replace")

    def _view(self, owner: LockOwner | None) -> StudyView:
        found = self._of_rows
        control = read_control(self._study, self._paths)
        run = self._runs[-1] if self._runs and owner else None
        running = [] if run is None else [it for it in run.running if it.trial_id not in found.ids]
        state = self._state(owner)
        progress = self._progress(run, running, state, control)
        return StudyView(
            name=self._study.name,
            folder=str(self._paths.folder),
            state=state,
            running_on=owner.host if owner else None,
            progress=progress,
            search_ids=tuple(self._names),
            slots=run.slots if run else None,
            curves=(
                *map(self._running_curve, running[:_NUM_RUNNING_CURVES]),
                *self._last_curves(),
            ),
            failures=found.failures,
            spent=found.spent,
            control=control,
            control_text="" if control == Control() else control_text(self._study, control),
            has_report=exists(self._paths.report),
        )

    def _state(self, owner: LockOwner | None) -> State:
        if owner is not None:
            return "running"
        found = self._of_rows
        return ended_state(
            self._paths, self._runs, found.num_trials, found.num_planned, found.num_failed
        )

    def _progress(
        self, run: Run | None, running: Sequence[StartedTrial], state: State, control: Control
    ) -> StudyProgress:
        found = self._of_rows
        is_over = state in ("complete", "some failed", "merged")
        shown = tuple(
            self._search(search_id, running, control, is_over=is_over) for search_id in self._names
        )
        limits = control.budget(self._study.budget)
        of_unit = {"GPU-hours": limits.gpu_hours, "hours": limits.wall_hours}
        return StudyProgress(
            searches=shown,
            trials_done=found.num_trials,
            trials_planned=found.num_trials if is_over else found.num_planned,
            running=len(running),
            failed=found.num_failed,
            seconds_left=run.seconds_left if run else None,
            score=short_label(self._reader.objective, self._study.ks[0]),
            failures=found.failure_lines,
            budget=tuple(
                replace(use, limit=of_unit.get(use.what, use.limit)) for use in self._budget
            ),
        )

    def _search(
        self,
        search_id: str,
        running: Sequence[StartedTrial],
        control: Control,
        *,
        is_over: bool,
    ) -> SearchProgress:
        found = self._of_rows.searches[search_id]
        # Finals begin once a search is over, whose space may have had fewer configs than planned.
        is_searched = is_over or found.finals_done > 0
        return replace(
            found,
            planned=found.done if is_searched else found.planned,
            finals_planned=found.finals_done if is_over else found.finals_planned,
            running=sum(it.search == search_id for it in running),
            is_cancelled=search_id in control.cancelled,
        )

    def _running_curve(self, trial: StartedTrial) -> LearningCurve:
        attempt = read_attempt(self._paths, trial.trial_id, trial.attempt)
        return LearningCurve(
            trial_id=trial.trial_id,
            search_id=trial.search,
            search=self._names.get(trial.search, trial.search),
            stage=trial.stage,
            state="RUNNING",
            scores=epoch_scores(self.log_of(trial.trial_id) or ""),
            node=attempt.node if attempt else None,
            device=attempt.device if attempt else None,
            gpus=(attempt.gpus or 0.0) if attempt else 0.0,
        )

    def _last_curves(self) -> Sequence[LearningCurve]:
        """Curves of the trials that ended last; of those that are new the scores are read."""
        last = self._of_rows.last.to_dicts()
        new = [row["trial_id"] for row in last if row["trial_id"] not in self._ended_curves]
        scores = _scores_of(self._reader, new, self._study.ks[0]) if new else {}
        known = self._ended_curves
        self._ended_curves = {
            row["trial_id"]: known.get(row["trial_id"])
            or LearningCurve(
                trial_id=row["trial_id"],
                search_id=row["search"],
                search=self._names.get(row["search"], row["search"]),
                stage=row["stage"],
                state=row["state"],
                scores=scores.get(row["trial_id"], {}),
            )
            for row in last
        }
        return tuple(self._ended_curves.values())


def _scores_of(
    reader: Reader, trial_ids: Sequence[str], k: int
) -> dict[str, dict[tuple[int, int], float]]:
    """Trial id -> fold and epoch -> validation score."""
    rows = reader.rows_of(trial_ids, ["trial_id", "scores"])
    wanted = ("val", reader.objective, k)
    return {
        trial_id: {
            (score["fold"], score["epoch"]): score["value"]
            for score in scores
            if (score["role"], score["metric"], score["k"]) == wanted
        }
        for trial_id, scores in rows.iter_rows()
    }


class _OfRows:
    """What follows from the rows of trials, computed once for each state of them."""

    def __init__(self, study: Study, names: Mapping[str, str], rows: pl.DataFrame) -> None:
        self._study = study
        self._names = names
        self._rows = rows
        self._counts = {
            (search, stage, state): count
            for search, stage, state, count in rows.group_by("search", "stage", "state")
            .len()
            .iter_rows()
        }

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of all committed trials."""
        return frozenset(self._rows["trial_id"])

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
        return sum(count for (_, _, state), count in self._counts.items() if state == "FAILED")

    @cached_property
    def num_planned(self) -> int:
        """Trials of all stages that the study plans, at most."""
        found = self.searches.values()
        first = searches(self._study)[0]
        baselines = len(blocks(self._study)) * num_baseline_runs(self._study, first)
        return sum(search.planned + search.finals_planned for search in found) + baselines

    @cached_property
    def searches(self) -> dict[str, SearchProgress]:
        """Search id -> its counts, but for what runs."""
        is_best = (pl.col("stage") == "search") & (pl.col("state") == "COMPLETE")
        best = dict(
            self._rows.filter(is_best)
            .group_by("search")
            .agg(pl.col("objective").max())
            .iter_rows()
        )
        planned = trials_per_search(self._study)
        return {
            search.id: SearchProgress(
                name=self._names[search.id],
                planned=planned,
                done=self._count(search.id, "search"),
                running=0,
                pruned=self._count(search.id, "search", "PRUNED"),
                failed=self._count(search.id, "search", "FAILED")
                + self._count(search.id, "final", "FAILED"),
                duplicates=0,
                best=best.get(search.id),
                finals_done=self._count(search.id, "final"),
                finals_planned=most_finals(self._study, search),
            )
            for search in searches(self._study)
        }

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """The trials that failed last, the latest first."""
        rows = self._failed.sort("ended_at", descending=True).head(_NUM_FAILURES)
        return tuple(
            Failure(
                trial_id=row["trial_id"],
                search=self._names.get(row["search"], row["search"]),
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

    @property
    def _failed(self) -> pl.DataFrame:
        return self._rows.filter(pl.col("state") == "FAILED")

    @cached_property
    def last(self) -> pl.DataFrame:
        """The trained trials that ended last, the latest first."""
        trained = self._rows.filter(pl.col("stage") != "baseline", pl.col("same_as").is_null())
        return trained.sort("ended_at", descending=True).head(_NUM_ENDED_CURVES)

    @cached_property
    def spent(self) -> tuple[SpentAt, ...]:
        """What was spent when trials ended, at evenly many of them, the last included."""
        gpus = {
            search.id: demand_of(self._study, search.block).gpus
            for search in searches(self._study)
        }
        hours = pl.col("seconds").fill_null(0.0) / SECONDS_PER_HOUR
        of_search = pl.col("search").replace_strict(
            list(gpus), list(gpus.values()), default=0.0, return_dtype=pl.Float64
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

    def _count(self, search: str, stage: str, *states: str) -> int:
        return sum(
            self._counts.get((search, stage, state), 0)
            for state in states or ("COMPLETE", "PRUNED", "FAILED")
        )

"""What happens in a study while it runs, reported one by one to the caller."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from podium.orchestrator.results.records.metric_columns import flat_test_column, score_column
from podium.orchestrator.scheduling.study_progress import SearchProgress, StudyProgress
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.search_samplers.suggester import TrialState
from podium.orchestrator.trials.history import TrialHistory
from podium.orchestrator.trials.specification import Config, TrialSpec
from podium.trainables.trial_reports import EpochReport

EventKind = Literal[
    "study started", "epoch ended", "trial ended", "search ended", "progress", "study ended"
]

_PROGRESS_SECONDS = 1.0
_MOST_OF_TIME = 0.02  # spent on progress: a snapshot grows with the number of searches


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a running study; fields that do not fit its kind are None.

    Attributes:
        kind: ``study started``: what was done before is counted, and trials start now.
            ``epoch ended``: a trial reported one, of which ``scores`` are by tag, such as
            ``train/loss`` or ``val/recall_at_1``, followed by ``/fold_2`` where it has several.
            ``trial ended``: its row is committed; copies of finals, which cost nothing, are not
            reported. ``search ended``: all its trials are over, and its finals may start.
            ``progress``: trials reported epochs; at most once a second, and less often in a study
            of very many searches. ``study ended``: no trial runs any more, because all are done,
            or the run was stopped, or its budget is used up.
        progress: counts of the whole study, of kinds that are about it.
        search: the search that ended, or the one that a trial belongs to, with its counts; None
            for a baseline trial, which belongs to a block.
        search_id: id of the search of a trial, a baseline's too: a name safe in paths.
        trial_id: id of the trial that ended, or of which an epoch ended.
        epoch: the epoch that ended; of a trial that ended, how many it trained over all folds.
        stage: its stage: ``search``, ``final`` or ``baseline``.
        block: label of its block: data set, backbone, dimension.
        loss: name of its loss, or of the baseline.
        state: ``COMPLETE``, ``PRUNED`` or ``FAILED``.
        seconds: seconds of training, validation and testing that it reported.
        objective: what its search maximises, if it is complete.
        scores: validation scores at its selected epochs, and of finals and baselines test scores,
            each a mean over folds under the name of its column, such as ``val_recall_at_1``; empty
            if it reported none.
        out_of_budget: message on what is used up, if the study ended for that.
    """

    kind: EventKind
    study: str
    progress: StudyProgress | None = None
    search: SearchProgress | None = None
    search_id: str | None = None
    trial_id: str | None = None
    epoch: int | None = None
    stage: Literal["search", "final", "baseline"] | None = None
    block: str | None = None
    loss: str | None = None
    seed: int | None = None
    hyperparameters: Config | None = None
    state: TrialState | None = None
    seconds: float | None = None
    objective: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    out_of_budget: str | None = None


class EventSource:
    """Tells the events of one run, in the thread that trains or hands out trials.

    Args:
        progress: takes a snapshot of the whole study.
        tell: takes every event; what it raises ends the run. None: no one receives them.
    """

    def __init__(
        self,
        study: str,
        queues: StudyQueues,
        progress: Callable[[], StudyProgress],
        tell: Callable[[Event], object] | None,
    ) -> None:
        self._study = study
        self._queues = queues
        self._progress = progress
        self._tell = tell
        queues.take_newly_over()  # by earlier runs
        self._next_progress = time.monotonic() + _PROGRESS_SECONDS

    def study_started(self) -> None:
        """Trials start now."""
        self._emit("study started", progress=self._progress())

    def study_ended(self, out_of_budget: str | None) -> None:
        """No trial runs any more; with the message on the budget if that is why."""
        self._emit("study ended", progress=self._progress(), out_of_budget=out_of_budget)

    def _emit(self, kind: EventKind, **fields: Any) -> None:
        if self._tell is not None:
            self._tell(Event(kind=kind, study=self._study, **fields))

    def epoch_ended(self, spec: TrialSpec, report: EpochReport) -> None:
        """A trial reported an epoch."""
        if self._tell is not None:
            scores = _tagged(report, has_folds=len(spec.settings.folds) > 1)
            self._emit("epoch ended", **_facts(spec), epoch=report.epoch, scores=scores)

    def epochs_reported(self) -> None:
        """Epochs were reported since the last time."""
        began = time.monotonic()
        if self._tell is not None and began >= self._next_progress:
            progress = self._progress()
            took = time.monotonic() - began
            self._next_progress = began + max(_PROGRESS_SECONDS, took / _MOST_OF_TIME)
            self._emit("progress", progress=progress)

    def trial_ended(self, spec: TrialSpec, history: TrialHistory, state: TrialState) -> None:
        """The row of a trial was committed, and with it its search may be over."""
        if self._tell is not None:
            is_baseline = spec.stage == "baseline"
            self._emit(
                "trial ended",
                **_facts(spec),
                search=None if is_baseline else self._queues.progress_of(spec.search),
                epoch=sum(report.epoch > 0 for report in history.epochs),
                state=state,
                seconds=history.seconds,
                objective=history.objective() if state == "COMPLETE" else None,
                scores=_scores(spec, history),
            )
        self.searches_ended()

    def searches_ended(self) -> None:
        """Tell of every search that is over since the last time."""
        for run in self._queues.take_newly_over():
            self._emit("search ended", search=self._queues.progress_of(run.search))


def _facts(spec: TrialSpec) -> dict[str, Any]:
    """What events of a trial say of it."""
    return {
        "search_id": spec.search.id,
        "trial_id": spec.trial_id,
        "stage": spec.stage,
        "block": spec.search.block.label,
        "loss": spec.search.loss,
        "seed": spec.settings.seed,
        "hyperparameters": dict(spec.settings.hyperparameters),
    }


def _tagged(report: EpochReport, *, has_folds: bool) -> dict[str, float]:
    fold = f"/fold_{report.fold}" if has_folds else ""
    return {
        f"{it.role}/{it.metric}{'' if it.k is None else f'_at_{it.k}'}{fold}": it.value
        for it in report.scores
    }


def _scores(spec: TrialSpec, history: TrialHistory) -> dict[str, float]:
    """Means over folds, by column; test scores of a search, if any, stay hidden."""
    tested = history.tests if spec.stage != "search" else ()
    found: dict[str, list[float]] = {}
    for report in history.selected():
        for score in report.scores:
            if score.role == "val" and score.k is not None:
                found.setdefault(score_column(score.metric, score.k), []).append(score.value)
    for test in tested:
        for score in test.scores:
            found.setdefault(flat_test_column(score.metric, score.k), []).append(score.value)
    return {name: sum(values) / len(values) for name, values in found.items()}

"""What a page, or a terminal, shows of a study at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from orchestrator.results_tools.stored_studies import State
from orchestrator.scheduling.study_progress import StudyProgress
from orchestrator.study.study import Control

ENDED: tuple[State, ...] = ("complete", "some failed", "merged")
"""States of a study of which nothing is left to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    """The validation scores of a trial so far.

    Attributes:
        trial_id: id of the trial.
        search_id: id of its search.
        search: name of its search.
        stage: stage of the trial.
        state: ``RUNNING``, or the state that the trial ended in.
        scores: fold and epoch -> score.
        node: name of the machine that trains it; None once it ended, or while that is not known.
        device: its device, likewise.
        gpus: GPUs that it occupies, a fraction where trials share one; 0 where not known.
    """

    trial_id: str
    search_id: str
    search: str
    stage: str
    state: str
    scores: Mapping[tuple[int, int], float]
    node: str | None = None
    device: str | None = None
    gpus: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A trial that failed.

    Attributes:
        trial_id: id of the trial.
        search: name of its search.
        stage: stage of the trial.
        cause: why it failed, in a word.
        message: what is known of the cause.
        ended_at: when it ended.
    """

    trial_id: str
    search: str
    stage: str
    cause: str
    message: str
    ended_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentAt:
    """What the study had spent at a moment, by the trials that had ended.

    Attributes:
        at: the moment.
        trials: number of trials that had ended.
        trial_hours: hours of these trials.
        gpu_hours: GPU-hours of these trials.
    """

    at: datetime
    trials: int
    trial_hours: float
    gpu_hours: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyView:
    """A study as its results folder shows it.

    Attributes:
        name: name of the study.
        folder: its results folder.
        state: what becomes of the study, or became of it.
        running_on: name of the machine on which it runs; None if it does not.
        progress: its searches and trials.
        search_ids: id of each search of ``progress``.
        slots: number of trials that fit at a time; None if not known, or it does not run.
        curves: learning curves of running trials, then of the last that ended.
        failures: the trials that failed, the latest first, at most so many as are shown.
        spent: what was spent over time.
        control: what the user changed of the study.
        control_text: the same in words; empty for nothing.
        has_report: whether there is a report of the study as it ended.
        problem: what is wrong with a file that was left out; None if none was.
    """

    name: str
    folder: str
    state: State
    running_on: str | None
    progress: StudyProgress
    search_ids: tuple[str, ...]
    slots: int | None
    curves: tuple[LearningCurve, ...]
    failures: tuple[Failure, ...]
    spent: tuple[SpentAt, ...]
    control: Control
    control_text: str
    has_report: bool
    problem: str | None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to run."""
        return self.state in ENDED

"""Runs a study from the state of its results folder to its end."""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from podium.errors import PodiumError
from podium.orchestrator.results.locks.study_lock import StudyLock
from podium.orchestrator.results.records.journal import Journal
from podium.orchestrator.results.records.runs import RunEnding, read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import check_readable, started_study
from podium.orchestrator.results.storage.local_files import check_not_vanished, never_made_again
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.resume_study import rebuilt_queues
from podium.orchestrator.run.retry_failed import (
    check_causes,
    record_retries,
    recorded_failures,
    withdraw,
)
from podium.orchestrator.run.run_log import run_log
from podium.orchestrator.run.snapshot_study import check_startable, load_datasets, write_snapshot
from podium.orchestrator.run.study_code import renew_unused_code, with_recorded_code
from podium.orchestrator.run.study_control import ControlWatch
from podium.orchestrator.run.warm_start import find_warm_starts, recall_warm_starts
from podium.orchestrator.scheduling.budget_shares import BudgetShares
from podium.orchestrator.scheduling.executor_interface import Executor
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.scheduling.study_events import Event
from podium.orchestrator.scheduling.study_progress import StudyProgress
from podium.orchestrator.scheduling.study_scheduler import StudyScheduler
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.study.blocks import blocks, trials_per_search
from podium.orchestrator.study.configs import training_of
from podium.orchestrator.study.defaults import has_image_files, recipe_note
from podium.orchestrator.study.fairness import report_differences
from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.trials.specification_maker import check_published
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.file_caches.array_cache import cache_folder_at
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.file_caches.resized_images import evaluation_side, resized
from podium.trainables.network.initial_weights import is_published, weights_problem

Watch = Callable[[StudyScheduler], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """Who started a run, and looks on.

    Attributes:
        say: takes messages on what happens before and after.
        watch: entered while trials run; gets the scheduler, to show progress.
        stoppable: entered around the executor, its start and end included, neither of which is to
            be cut short; gets the scheduler, to stop it.
        on_event: takes what happens in the study, in the thread that called `run_study`; what it
            raises ends the run, which can be continued.
    """

    say: Callable[[str], object]
    watch: Watch = nullcontext
    stoppable: Watch = nullcontext
    on_event: Callable[[Event], object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended.

    Attributes:
        progress: progress of the study at the end of the run.
        interrupted: whether work is left.
        out_of_budget: message if that is because the budget is used up; None otherwise.
    """

    progress: StudyProgress
    interrupted: bool
    out_of_budget: str | None = None


def run_study(
    study: Study,
    paths: StudyPaths,
    start_executor: Callable[[], Executor],
    console: Console,
    *,
    trains_here: bool,
    retried_causes: Collection[str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> RunEnd:
    """Start the study, or continue it; the results folder decides which.

    Args:
        study: the resolved study.
        paths: its results folder.
        start_executor: called once everything that can be refused has been checked.
        console: who looks on.
        trains_here: whether trials run on this machine, so that images are prepared here.
        retried_causes: causes of the failed trials that are retried from scratch, under their ids;
            empty for all of them, None for none.
        clock: gives seconds of a monotonic clock, by which hours are counted.

    Raises:
        PodiumError: the results folder belongs to another study, or to this study changed in a
            way that changes numbers, or trained by other code than there is now; weights are not
            there, or weights or data are not those its trials had; earlier
            results to start from are not there, or are there for some losses only and the study
            file does not declare it; a cause of failures is unknown; a file is corrupt; the store
            or the lock is unavailable.
        TrialInputError: a data set is not there, or not as it should be, or lacks classes that
            the study validates; an image is broken.
    """
    say = console.say
    check_causes(retried_causes or ())
    study = _startable(study, paths, trains_here=trains_here, retries=retried_causes is not None)
    datasets = load_datasets(study, paths)
    check_published(study, datasets.values())
    if any(map(has_image_files, study.datasets)):
        say(f"Training: {recipe_note(study.training.recipe, study.datasets)}.")
    with ExitStack() as held, StudyLock(paths, say) as lock, run_log(paths):
        study = find_warm_starts(study, say)
        report_differences(study, say)
        study = renew_unused_code(study, paths, say)
        control = ControlWatch(study, paths, say, clock)
        study = replace(study, budget=control().budget(study.budget))
        write_snapshot(study, paths, datasets)
        held.enter_context(never_made_again(paths.store))
        reader = Reader(paths.folder)
        account = RunAccount(study, paths, reader, say, clock)
        shares = BudgetShares(study, account) if study.search.order == "asynchronous" else None
        journal = Journal(paths)
        rebuilt = partial(rebuilt_queues, study, paths, reader, datasets, shares)
        queues = rebuilt(journals := journal.read())
        if retried_causes is not None:  # once nothing speaks against the folder
            record_retries(journal, reader, retried_causes, say)
            journals = journal.read()
        if failed := recorded_failures(journals, reader):  # now, or before a kill
            withdraw(paths, failed)
            queues = rebuilt(journals)
        _report_done(queues, say)
        scheduler = StudyScheduler(
            study,
            paths,
            journal,
            partial(_check_ownership, paths, lock),
            objective=reader.objective,
            queues=queues,
            account=account,
            on_event=console.on_event,
            control=control,
        )
        scheduler.events.study_started()
        is_work_left = scheduler.check_budget() and queues.num_done < queues.num_planned
        if is_work_left or account.has_news:
            with account:
                if is_work_left and trains_here:
                    _prepare_images(study, datasets)
                if is_work_left:
                    _run_trials(scheduler, study, paths, start_executor, console)
                account.ending = _ending(scheduler)
        finished = not scheduler.is_stopping
        _report_ended_early(scheduler.progress(), trials_per_search(study), say)
        check_not_vanished(paths.folder)
        write_snapshot(replace(study, budget=account.budget), paths, datasets)
        if finished:
            gather_all(paths)
        scheduler.events.study_ended(scheduler.budget.used_up_message)
        return RunEnd(
            progress=scheduler.progress(),
            interrupted=not finished,
            out_of_budget=scheduler.budget.used_up_message,
        )


def _startable(study: Study, paths: StudyPaths, *, trains_here: bool, retries: bool) -> Study:
    """The study with what its folder records, once nothing in there speaks against a run."""
    check_readable(paths, study.name)
    study = with_recorded_code(recall_warm_starts(study, paths), paths)
    check_startable(study, paths)
    _check_weights(study, fetches=trains_here and (retries or _grows(study, paths)))
    return study


def _grows(study: Study, paths: StudyPaths) -> bool:
    """Whether trials may be left to train: not of a study that ended and is the same now."""
    has_ended = any(run.end == "finished" for run in read_runs(paths)[-1:])
    return not has_ended or started_study(paths) != resolved_dict(study)


def _check_weights(study: Study, *, fetches: bool) -> None:
    """Refuse weights that are not there; published ones are fetched where trials train here."""
    problems = [problem for item in study.backbones if (problem := weights_problem(item))]
    if problems:
        raise PodiumError("\n".join(problems))
    for item in study.backbones if fetches else ():
        if is_published(item):
            from podium.trainables.network.make_backbone import make_backbone  # loads torch

            make_backbone(item)


def _report_done(queues: StudyQueues, say: Callable[[str], object]) -> None:
    if queues.num_done == queues.num_planned:
        say("All trials of this study are already done.")
    elif queues.num_done:
        say(f"Continuing: {queues.num_done} of {queues.num_planned} trials are done.")


def _check_ownership(paths: StudyPaths, lock: StudyLock) -> None:
    """Raise an error if the run may not write any more: the folder is gone, or the lock lost."""
    check_not_vanished(paths.folder)
    lock.raise_if_lost()


def _run_trials(
    scheduler: StudyScheduler,
    study: Study,
    paths: StudyPaths,
    start_executor: Callable[[], Executor],
    console: Console,
) -> None:
    with console.stoppable(scheduler):
        executor = start_executor()
        if scheduler.is_stopping:
            return
        with executor:
            num_slots = scheduler.bounded(executor.capacity()).num_fitting(demand_of(study))
            trials = "1 trial" if num_slots == 1 else f"{num_slots} trials"
            console.say(f"Running {trials} at a time; results in {paths.folder}")
            with console.watch(scheduler):
                executor.run(scheduler)
        scheduler.note_stopped()


def _ending(scheduler: StudyScheduler) -> RunEnding:
    if scheduler.budget.used_up_message is not None:
        return "budget"
    return "interrupted" if scheduler.is_stopping else "finished"


def _report_ended_early(
    progress: StudyProgress, planned: int, say: Callable[[str], object]
) -> None:
    for search in progress.searches:
        if search.is_cut_short:
            say(f"{search.name}: budget used up after {search.done} of {planned} trials")
        if search.is_cancelled:
            say(f"{search.name}: cancelled by the user after {search.done} of {planned} trials")


def _prepare_images(study: Study, datasets: Mapping[str, Dataset]) -> None:
    """Make every cache of resized images that the study's blocks read on this machine.

    Trials would make them too, but silently, and the others would wait. Vectors, images of one
    size and ``cache: none`` have no such cache; where features are cached, images may not be read
    at all.

    Raises:
        TrialInputError: an image cannot be decoded, or the cache cannot be written.
    """
    wanted: set[tuple[str, int]] = set()
    for block in blocks(study):
        training = training_of(study, block)
        if training.cache == "resized" and training.mode == "fine_tune" and block.image_size:
            side = evaluation_side(block.image_size, training.evaluation_crop)
            wanted.add((block.dataset, side))
    for label, side in sorted(wanted):
        dataset = datasets[label]
        if dataset.vectors is None and isinstance(dataset.pixels, ImageFiles):
            resized(dataset.pixels, side, cache_folder_at(None))

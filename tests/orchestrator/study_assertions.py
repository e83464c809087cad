"""What must hold of the attacked study once it is done, whatever was done to it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.locks.study_lock import lock_owner
from podium.orchestrator.results.records.journal import read_asks, read_attempts, read_journals
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.resume_study import rebuilt_queues
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.study.study import (
    KeepSettings,
    ResourceSettings,
    Study,
    StudyLoss,
    StudyTraining,
)
from podium.orchestrator.verify.verify_store import verify_store
from podium.orchestrator.worker.worker import train
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.orchestrator.results.store_rows import check_store
from tests.orchestrator.small_study import rows, run_here, tables, with_search

_TINY_GLYPHS = {"classes": 24, "instances_per_class": 8}
_OF_ANY_POPULATION = ("trial_id", "state", "rung", "objective", "epochs_run")


POPULATIONS = "populations"
"""Attacked besides studies of the two orders: one in deterministic order, of real heads."""


def attacked_study(kind: str) -> Study:
    """The study that is attacked; of trials that are simulated, but for members of populations.

    Args:
        kind: its order, or `POPULATIONS`.
    """
    order = "deterministic" if kind == POPULATIONS else kind
    study = with_search(order=order, trials=10, lag=3)
    if kind == POPULATIONS:
        study = replace(
            study,
            datasets=(DatasetSettings(name="glyphs", options=_TINY_GLYPHS),),
            losses=(StudyLoss("multi_similarity"), StudyLoss("proxy_anchor")),
            search=replace(study.search, population=3),
            training=StudyTraining(
                overrides={"mode": "frozen_features", "epochs": 4, "batch_size": 16}
            ),
        )
    return replace(
        study,
        name=f"attacked-{kind}",
        # Real heads have torch to load first.
        resources=ResourceSettings(stuck_minutes=0.5 if kind == POPULATIONS else 0.1),
        keep=KeepSettings(models=False, embeddings=False),  # simulated trials have none
    )


def is_of_populations(study: Study) -> bool:
    """Whether trials of the attacked study are real."""
    return study.search.population > 1


def assert_unchanged(storage: Path, study: Study, committed: Iterable[pl.DataFrame]) -> None:
    """Rows that were there before an attack are there now, and the same."""
    after = tables(storage, study)
    for before in committed:
        found = after.filter(pl.col("trial_id").is_in(before["trial_id"].to_list()))
        assert_frame_equal(found, before)


def assert_equal_to_undisturbed(storage: Path, study: Study, undisturbed: Path) -> None:
    """The tables equal those of a run that nobody attacks, in the folder ``undisturbed``."""
    if is_of_populations(study):
        run_here(study, undisturbed, InProcessExecutor(train))
        # Who is trained with whom differs, and with it how sums are rounded.
        found = [rows(folder, study).sort("trial_id") for folder in (storage, undisturbed)]
        first, second = (trials.select(_OF_ANY_POPULATION) for trials in found)
        assert_frame_equal(first, second)
        return
    run_here(study, undisturbed)
    assert_frame_equal(tables(storage, study), tables(undisturbed, study))


def _rebuilt(storage: Path, study: Study) -> StudyQueues:
    """The study's queues as the next run would have them."""
    paths = StudyPaths(storage / study.name)
    datasets = {item.label: load_dataset(item, None) for item in study.datasets}
    return rebuilt_queues(study, paths, Reader(paths.folder), datasets, None, read_journals(paths))


def problems_at_rest(storage: Path, study: Study) -> list[str]:
    """Everything that is wrong with a finished study; nothing, as a rule."""
    paths = StudyPaths(storage / study.name)
    trials = rows(storage, study)
    ids = set(trials["trial_id"])
    problems = []

    def demand(holds: bool, problem: str) -> None:
        if not holds:
            problems.append(problem)

    demand(check_store(paths) == len(trials), "the store's files hold other trials than are read")
    demand(len(ids) == len(trials), "a trial has two rows")
    queues = _rebuilt(storage, study)
    demand(queues.num_done == queues.num_planned, "not all that was planned is done")
    searched = trials.filter(pl.col("stage") == "search")
    for search, (count,) in searched.group_by("search").len().rows_by_key("search").items():
        demand(count == (study.search.trials,), f"{search} has {count} trials")
    asked = {ask.trial_id for asks in read_asks(paths).values() for ask in asks}
    demand(asked == set(searched["trial_id"]), "asks and trials of the search differ")
    demand("FAILED" not in set(trials["state"]), "an attack was held against a trial")
    tried = {attempt.trial_id for attempt in read_attempts(paths)}
    demand(tried <= ids, f"attempts at unknown trials: {sorted(tried - ids)}")
    demand(tried >= asked, "trials without an attempt")
    demand(lock_owner(paths) is None, "the lock is still held")
    files = [path for path in paths.folder.rglob("*") if path.is_file()]
    for path in files:
        name = str(path.relative_to(paths.folder))
        is_temporary = path.name.startswith(".")
        demand(not is_temporary, f"temporary left: {name}")
        demand(not name.startswith("checkpoints/"), f"checkpoint left: {name}")
        is_loose = name.startswith("trials/") and not name.endswith(".gathered.parquet")
        demand(not is_loose, f"not gathered: {name}")
    found = verify_store(paths.folder)
    return [*problems, *found.problems, *found.notes]

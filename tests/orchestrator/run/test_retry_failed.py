"""Failed trials that are run again, under their ids, once what they failed for is fixed."""

import shutil
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.live.followed_study import FollowedStudy
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal import (
    Journal,
    read_attempts,
    read_journals,
    retried_failures,
)
from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.resume_study import rebuilt_queues
from podium.orchestrator.run.retry_failed import record_retries, recorded_failures, withdraw
from podium.orchestrator.scheduling.running_trial import RunningTrials
from podium.orchestrator.scheduling.worker_slots import WorkerSlots
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import BudgetSettings, FinalSettings
from podium.orchestrator.verify.verify_store import verify_store
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import Collapsed
from tests.orchestrator.broken_trials import (
    FRAIL,
    Broken,
    all_columns,
    assert_sound,
    draws_short_straw,
    run_broken,
    run_fixed,
)
from tests.orchestrator.results.file_operations import FileOperations, Killed
from tests.orchestrator.scripted import TINY, ScriptedExecutor, attempts_at, is_of_search, lost_at
from tests.orchestrator.shared_finals import KFOLD, SMALL, finals_of
from tests.orchestrator.small_study import InterruptedAfter, rows, run_here, tables
from tests.soak import soak

PATHS = "frail"


def failed_ids(storage, study=FRAIL):
    return set(rows(storage, study).filter(pl.col("state") == "FAILED")["trial_id"])


def of_trials(frame, ids, *, is_one_of=True):
    found = pl.col("trial_id").is_in(sorted(ids))
    return frame.filter(found if is_one_of else ~found)


def kill(*_):
    raise Killed


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Storage of a study with failed trials of every kind but baselines."""
    storage = tmp_path_factory.mktemp("broken")
    run_broken(storage)
    failed = rows(storage, FRAIL).filter(pl.col("state") == "FAILED")
    assert set(failed["stage"]) == {"search", "final"}
    assert len(set(failed["search"])) == 2
    return storage


@pytest.fixture
def copied(broken, tmp_path):
    shutil.copytree(broken, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_failed_trials_are_trained_again_and_no_other_row_changes(tmp_path):
    """Rows of single trials; those below are gathered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podium.orchestrator.run.run_study.gather_all", kill)
        with pytest.raises(Killed):
            run_broken(tmp_path)
    before, failed = all_columns(tmp_path), failed_ids(tmp_path)
    said = []
    end = run_fixed(tmp_path, say=said.append)
    assert f"Retrying {len(failed)} failed trials (diverged {len(failed)})." in said
    assert end.progress.failed == 0
    after = all_columns(tmp_path)
    assert_frame_equal(
        of_trials(after, set(before["trial_id"]) - failed),
        of_trials(before, failed, is_one_of=False),
    )
    searched = before.filter(pl.col("stage") == "search")["trial_id"]
    assert failed & set(searched) <= set(after["trial_id"])
    assert_sound(tmp_path)


def test_the_failure_stays_on_record_and_so_does_the_attempt(copied):
    before = of_trials(all_columns(copied), failed_ids(copied)).to_dicts()
    run_fixed(copied)
    paths = StudyPaths(copied / PATHS)
    retried = retried_failures(read_journals(paths))
    assert sorted(retried) == [row["trial_id"] for row in before]
    for row in before:
        (failure,) = retried[row["trial_id"]]
        for name in ("search", "stage", "cause", "message", "traceback", "log", "ended_at"):
            assert getattr(failure, name) == row[name], name
        assert failure.attempts == row["attempts"] == 1
    retried_id = before[0]["trial_id"]
    first, second = (it for it in read_attempts(paths) if it.trial_id == retried_id)
    assert (first.cause, second.number) == ("diverged", 2)
    said, after = [], all_columns(copied)
    run_fixed(copied, say=said.append)
    assert "No trial failed, so none is retried." in said
    assert_frame_equal(all_columns(copied), after)


def test_only_failures_of_the_given_causes_are_retried(tmp_path):
    class TwoKinds(Broken):
        def __call__(self, settings, **options):
            if settings.loss == "untrained":
                raise Collapsed("all embeddings coincide", 0, 0)
            yield from super().__call__(settings, **options)

    run_broken(tmp_path, executor=InProcessExecutor(TwoKinds(draws_short_straw)))
    causes = Counter(rows(tmp_path, FRAIL).filter(pl.col("state") == "FAILED")["cause"])
    assert causes.keys() == {"diverged", "collapsed"}
    said = []
    end = run_fixed(tmp_path, causes=["collapsed"], say=said.append)
    assert "Retrying 2 failed trials (collapsed 2)." in said
    assert end.progress.failed == causes["diverged"]
    said.clear()
    run_fixed(tmp_path, causes=["timeout", "lost"], say=said.append)
    assert (
        "No trial failed for timeout or lost, so none is retried. Failures: diverged"
        f" {causes['diverged']}."
    ) in said
    assert run_fixed(tmp_path, causes=["diverged"]).progress.failed == 0


def test_what_fails_again_is_failed_again_and_may_be_retried_again(copied):
    failed = failed_ids(copied)
    end = run_broken(copied, retried_causes=())
    assert end.progress.failed == len(failed)
    assert failed_ids(copied) == failed
    assert_sound(copied)
    run_fixed(copied)
    assert_sound(copied)
    retried = retried_failures(read_journals(StudyPaths(copied / PATHS)))
    assert retried.keys() == failed
    for failures in retried.values():
        assert [(it.number, it.attempts) for it in failures] == [(1, 1), (2, 2)]


def test_copies_of_a_failed_final_go_and_come_with_it(tmp_path):
    study = replace(
        SMALL,
        final=FinalSettings(seeds=2, protocol=KFOLD, train_on=("all",)),
        keep=FRAIL.keep,
    )

    def is_refit_of_default(settings):
        return settings.protocol.kind == "refit" and settings.hyperparameters["margin"] == 0.5

    run_broken(tmp_path, study, is_refit_of_default)
    failed = finals_of(tmp_path, study).filter(pl.col("state") == "FAILED")
    assert failed["same_as"].count() == failed["same_as"].null_count() == 2
    run_fixed(tmp_path, study)
    again = of_trials(finals_of(tmp_path, study), set(failed["trial_id"]))
    assert set(again["state"]) == {"COMPLETE"}
    assert_frame_equal(
        again.select("trial_id", "search", "same_as"),
        failed.select("trial_id", "search", "same_as"),
    )
    assert_sound(tmp_path, study)


def test_the_winner_is_the_best_of_all_trials_once_those_that_failed_are_in(copied):
    before = rows(copied, FRAIL)
    run_fixed(copied)
    after = rows(copied, FRAIL)
    changed = 0
    for (search,), found in after.filter(pl.col("stage") == "search").group_by("search"):
        best = found.sort("objective", "index", descending=[True, False])["config_hash"][0]
        finals = after.filter(pl.col("stage") == "final", pl.col("search") == search)
        winners = finals.filter("is_winner")
        assert set(winners["config_hash"]) == {best}
        assert set(winners["state"]) == {"COMPLETE"}
        assert len(winners) == FRAIL.final.seeds
        of_search = before.filter(pl.col("search") == search)
        changed += best not in set(of_search.filter("is_winner")["config_hash"])
    assert changed


def is_of_second_search(job):
    return job.settings.loss == "proxy_anchor" and is_of_search(job)


def test_losses_of_workers_count_from_the_retry_on(tmp_path):
    always = lost_at("lost_worker", 0, attempts=range(1, 4), which=is_of_second_search)
    run_here(TINY, tmp_path, ScriptedExecutor(always))
    failed = failed_ids(tmp_path, TINY)
    twice = lost_at("lost_worker", 0, attempts=range(4, 6), which=is_of_second_search)
    end = run_fixed(tmp_path, TINY, executor=ScriptedExecutor(twice))
    assert end.progress.failed == 0
    for trial_id in failed:
        causes = [attempt.cause for attempt in attempts_at(tmp_path, trial_id)]
        assert causes == ["lost_worker"] * 5 + ["complete"]
    again = of_trials(rows(tmp_path, TINY), failed)
    assert again["state"].to_list() == ["COMPLETE"] * len(failed)
    assert again["attempts"].to_list() == [6] * len(failed)


def test_how_far_and_how_long_attempts_before_the_failure_ran_does_not_count(tmp_path):
    """So it may be pruned as early as others, has all its time, and needs no node to itself."""
    always = lost_at("lost_node", 2, attempts=range(1, 5), which=is_of_second_search)
    run_here(TINY, tmp_path, ScriptedExecutor(always))
    paths = StudyPaths(tmp_path / TINY.name)
    _retry(paths)
    datasets = {item.label: load_dataset(item, None) for item in TINY.datasets}
    queues = rebuilt_queues(
        TINY, paths, Reader(paths.folder), datasets, None, read_journals(paths)
    )
    slots = WorkerSlots(TINY, queues.earlier, "recall")
    (spec,) = filter(None, [queues.next_spec(lambda ask: None, 1)])
    running = slots.next(lambda: spec, Capacity(cpus=1, gpus=0), RunningTrials())
    assert (running.attempt, running.earlier, running.is_alone) == (5, (), False)
    assert running.may_be_pruned
    assert running.seconds_of_trial() == 0


def test_what_the_failure_took_counts_and_no_trial_counts_twice(copied):
    before = FollowedStudy(copied / PATHS).view()
    failed = len(failed_ids(copied))
    run_fixed(copied)
    after = FollowedStudy(copied / PATHS).view()
    uses = after.spent
    assert uses["failed"]["tries"] == before.spent["failed"]["tries"] == failed
    attempts = list(read_attempts(StudyPaths(copied / PATHS)))
    assert sum(use["tries"] for use in uses.values()) == len(attempts)
    assert (after.progress.failed, after.state) == (0, "complete")
    searched = [sum(it.done for it in view.progress.searches) for view in (before, after)]
    assert searched[0] == searched[1]
    runs = read_runs(StudyPaths(copied / PATHS))
    assert [run.end for run in runs] == ["finished", "finished"]
    whole = sum(one.whole_tries for run in runs for one in run.spent)
    assert whole == sum(use["tries"] for name, use in uses.items() if name == "complete")


def test_a_budget_of_trials_that_is_used_up_does_not_keep_trials_from_being_retried(tmp_path):
    reserved = 2 * 2 * 2 + 2
    study = replace(FRAIL, budget=BudgetSettings(trials=2 * 6 + reserved))
    run_broken(tmp_path, study)
    end = run_fixed(tmp_path, study)
    assert end.out_of_budget is None
    assert (end.interrupted, end.progress.failed) == (False, 0)
    assert_sound(tmp_path, study)


def test_in_deterministic_order_tables_do_not_depend_on_how_many_retry_at_a_time(tmp_path):
    study = replace(
        FRAIL,
        search=replace(FRAIL.search, early_stopping=TINY.search.early_stopping, lag=3),
    )
    found = []
    for cpus in (1.0, 3.0):
        storage = tmp_path / str(cpus)
        capacity = Capacity(cpus=cpus, gpus=0.0)
        broken = InterruptedAfter(23, Broken(draws_short_straw))
        run_broken(storage, study, executor=broken)
        run_fixed(storage, study, executor=ScriptedExecutor(capacity=capacity))
        assert_sound(storage, study)
        found.append(tables(storage, study))
    assert_frame_equal(*found)


@pytest.mark.parametrize("every", [90, *soak(11)])
@pytest.mark.parametrize("wish", [None, ()], ids=["no wish", "the same wish"])
def test_killed_at_any_file_operation_the_study_is_sound_and_the_next_run_finishes(
    copied, tmp_path_factory, monkeypatch, every, wish
):
    before, failed = all_columns(copied), failed_ids(copied)
    for die_at in range(30, 300, every):
        storage = tmp_path_factory.mktemp("killed")
        shutil.copytree(copied, storage, dirs_exist_ok=True)
        with monkeypatch.context() as patch:
            FileOperations(patch, die_at=die_at)
            try:
                _retry(StudyPaths(storage / PATHS))
            except Killed:
                ended = True
            else:
                ended = False
        found = verify_store(storage / PATHS)
        assert found.problems == []
        run_fixed(storage, causes=wish)  # the wish that was recorded is kept, and not doubled
        recorded = retried_failures(read_journals(StudyPaths(storage / PATHS)))
        assert {len(them) for them in recorded.values()} <= {1}
        assert failed_ids(storage) == (failed - recorded.keys() if wish is None else set())
        run_fixed(storage)
        assert_sound(storage)
        assert not failed_ids(storage)
        kept = set(before["trial_id"]) - failed
        assert_frame_equal(of_trials(all_columns(storage), kept), of_trials(before, kept))
        if not ended:
            assert die_at > 40
            return
    raise AssertionError("the retry never came to its end")


def _retry(paths):
    reader = Reader(paths.folder)
    journal = Journal(paths)
    record_retries(journal, reader, (), lambda line: None)
    withdraw(paths, recorded_failures(journal.read(), reader))


def test_a_study_on_s3_is_retried_as_a_local_one(bucket, tmp_path):
    for storage in (bucket, tmp_path):
        run_broken(storage, executor=InterruptedAfter(20, Broken(draws_short_straw)))
        run_fixed(storage)
        assert_sound(storage)
    volatile = ("started_at", "ended_at", "seconds", "test_seconds", "log", "git_commit")
    remote, local = (rows(storage, FRAIL).drop(volatile) for storage in (bucket, tmp_path))
    assert_frame_equal(remote, local)

"""Losses of every kind at the interface of the scheduler; workers and store are real."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.errors import PodiumError
from podium.orchestrator.study.resource_demand import Capacity, Demand
from tests.orchestrator.scripted import (
    ALWAYS,
    BEFORE_IT_BEGINS,
    TINY,
    ScriptedExecutor,
    any_trial,
    attempts_at,
    failed,
    is_of_search,
    lost,
    lost_at,
    run_tiny,
)
from tests.orchestrator.small_study import rows, tables


@pytest.mark.parametrize("cause", ["lost_node", "killed_for_memory", "stuck"])
def test_a_study_whose_every_trial_is_lost_once_ends_in_the_same_tables(
    tmp_path, undisturbed_tiny, cause
):
    fate = lost_at(cause, 1, attempts=range(1, 2), which=any_trial)
    executor = ScriptedExecutor(fate, Capacity(cpus=1.0, gpus=0.0, nodes=(FOUR_CPUS,)))
    end = run_tiny(tmp_path, executor)
    assert end.progress.failed == 0
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)
    trials = rows(tmp_path, TINY)
    repeated = trials.filter(pl.col("attempts") == 2)
    assert end.progress.retries == f"{len(repeated)} ({cause} {len(repeated)})"
    for trial_id in repeated["trial_id"]:
        first, second = attempts_at(tmp_path, trial_id)
        assert (first.cause, first.reports) == (cause, 1)
        assert second.cause in ("complete", "stopped")
        assert first.ended_at is not None
        assert first.seconds is not None


FOUR_CPUS = Demand(cpus=4.0, gpus=0.0)


def test_a_trial_that_is_lost_after_each_epoch_never_fails(tmp_path, undisturbed_tiny):
    def fate(job, step):  # each try gets one epoch further than the one before
        return lost("lost_node") if step == job.attempt and job.attempt < 5 else None

    end = run_tiny(tmp_path, ScriptedExecutor(fate))
    assert end.progress.failed == 0
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)
    assert rows(tmp_path, TINY)["attempts"].max() == 4


def test_a_trial_that_takes_its_worker_down_three_times_fails_with_what_it_had(tmp_path):
    def deadly(job):
        return job.settings.loss == "proxy_anchor" and is_of_search(job)

    fate = lost_at("lost_worker", 2, attempts=ALWAYS, which=deadly)
    run_tiny(tmp_path, ScriptedExecutor(fate))
    trials = failed(tmp_path)
    assert set(trials["cause"]) == {"lost"}
    assert set(trials["loss"]) == {"proxy_anchor"}
    # The first try came to 2 epochs, which was progress; three more came no further.
    assert set(trials["attempts"]) == {4}
    assert set(trials["epochs_run"]) == {2}
    assert trials["message"][0] == (
        "its worker or node died 3 times without an epoch in between; last: told as lost_worker"
    )


def test_the_count_of_losses_survives_the_driver(tmp_path):
    for run in range(3):
        losses = []

        def fate(job, step, losses=losses):
            if losses or step != 0 or job.settings.loss != "proxy_anchor":
                return None
            losses.append(lost("lost_node"))
            return losses[0]

        def stop_after_loss(scheduler, jobs, losses=losses, is_last=run == 2):
            if losses and not is_last:
                scheduler.stop()

        run_tiny(tmp_path, ScriptedExecutor(fate, at_step=stop_after_loss))
    (trial,) = failed(tmp_path).iter_rows(named=True)
    assert (trial["cause"], trial["attempts"]) == ("lost", 3)
    causes = [attempt.cause for attempt in attempts_at(tmp_path, trial["trial_id"])]
    assert causes == ["lost_node"] * 3


def test_of_trials_that_die_with_their_node_again_and_again_only_the_deadly_one_fails(tmp_path):
    """It takes the node down before anybody gets an epoch further, in every try."""
    there = []

    def look(scheduler, jobs):
        there[:] = [job.settings.hyperparameters for job in jobs]

    deadly = {}

    def fate(job, step):
        if job.settings.loss == "proxy_anchor" and is_of_search(job):
            deadly.setdefault("config", job.settings.hyperparameters)
        return lost("lost_node") if step == 0 and deadly.get("config") in there else None

    node = Demand(cpus=4.0, gpus=0.0)
    executor = ScriptedExecutor(fate, Capacity(cpus=4.0, gpus=0.0, nodes=(node,)), at_step=look)
    end = run_tiny(tmp_path, executor)
    losses = [job.attempt for job in executor.jobs if job.settings.loss == "contrastive"]
    assert max(losses) == 3
    assert "lost_node" in end.progress.retries
    trials = failed(tmp_path)
    assert set(trials["loss"]) == {"proxy_anchor"}
    assert set(trials["cause"]) == {"lost"}
    configs = {job.trial_id: job.settings.hyperparameters for job in executor.jobs}
    assert all(configs[trial_id] == deadly["config"] for trial_id in trials["trial_id"])


@pytest.mark.parametrize("cause", ["lost_node", "stuck"])
def test_a_trial_without_a_worker_yet_cannot_be_at_fault(tmp_path, undisturbed_tiny, cause):
    losses = []

    def fate(job, step):
        is_due = step == BEFORE_IT_BEGINS and losses.count(job.trial_id) < 5
        losses.extend([job.trial_id] if is_due else [])
        return lost(cause) if is_due else None

    run_tiny(tmp_path, ScriptedExecutor(fate))
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)
    assert set(rows(tmp_path, TINY)["attempts"]) == {1}


def test_workers_that_die_before_they_write_anything_are_counted(tmp_path):
    """As where no node of a cluster can load the code: it is told, and no trial fails."""
    fate = lost_at("lost_worker", BEFORE_IT_BEGINS, attempts=ALWAYS, which=any_trial)
    with pytest.raises(PodiumError, match="its worker or node died 3 times"):
        run_tiny(tmp_path, ScriptedExecutor(fate))
    assert rows(tmp_path, TINY).is_empty()


def test_what_is_lost_while_the_run_stops_is_no_loss(tmp_path, undisturbed_tiny):
    def fate(job, step):
        return lost("lost_worker") if step == 2 else None

    def stop(scheduler, jobs):
        if any(running.history.num_reports == 2 for running in scheduler._running.all()):
            scheduler.stop()

    for _ in range(4):
        run_tiny(tmp_path, ScriptedExecutor(fate, at_step=stop))
    trials = run_tiny(tmp_path, ScriptedExecutor())
    assert trials.progress.failed == 0
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)

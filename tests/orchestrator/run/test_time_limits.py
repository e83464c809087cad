"""Trials that take too long or fall silent; time passes by moving what the scheduler noted."""

import time

import pytest
from polars.testing import assert_frame_equal

from tests.orchestrator.scripted import (
    TINY,
    ScriptedExecutor,
    attempts_at,
    failed,
    lost,
    run_tiny,
)
from tests.orchestrator.small_study import tables


class Clock:
    """Trials of one loss seem to take so long until their second report, in every try."""

    def __init__(self, seconds):
        self._seconds = seconds
        self._moved = set()

    def __call__(self, scheduler, jobs):
        for running in scheduler._running.all():
            is_slow = running.spec.search.loss == "proxy_anchor"
            if is_slow and running.history.num_reports == 2 and running.serial not in self._moved:
                running.begun -= self._seconds
                self._moved.add(running.serial)


@pytest.mark.parametrize(("kills", "epochs"), [(True, 2), (False, 3)])
def test_a_trial_that_takes_longer_than_it_may_fails_with_what_it_had(tmp_path, kills, epochs):
    """Killed, or told at its next word where nobody can kill it."""
    executor = ScriptedExecutor(at_step=Clock(3700), kills=kills)
    run_tiny(tmp_path, executor, trial_hours=1.0)
    trials = failed(tmp_path)
    assert set(trials["loss"]) == {"proxy_anchor"}
    assert set(trials["cause"]) == {"timeout"}
    assert set(trials["epochs_run"]) == {epochs}
    assert set(trials["message"]) == {"it ran for more than resources.trial_hours: 1"}
    assert set(trials["attempts"]) == {1}


def test_all_attempts_at_a_trial_share_its_time(tmp_path):
    def fate(job, step):
        return lost("preempted") if step == 3 and job.settings.loss == "proxy_anchor" else None

    executor = ScriptedExecutor(fate, at_step=Clock(1000))
    run_tiny(tmp_path, executor, trial_hours=1.0)
    trials = failed(tmp_path)
    assert set(trials["cause"]) == {"timeout"}
    assert set(trials["attempts"]) == {4}
    message = "it ran for more than resources.trial_hours: 1, in 4 attempts"
    assert set(trials["message"]) == {message}


def test_trials_are_not_to_blame_for_the_time_in_which_the_driver_was_stopped(tmp_path):
    stops = []

    def look(scheduler, jobs):
        if scheduler._timeouts._last_call is not None and len(stops) < 5:
            stops.append(7200)
            scheduler._timeouts._last_call -= 7200  # as if all that is known were so much older
            for running in scheduler._running.all():
                running.begun = running.begun and running.begun - 7200
                running.heard = running.heard and running.heard - 7200

    end = run_tiny(tmp_path, ScriptedExecutor(at_step=look), trial_hours=1.0, stuck_minutes=30.0)
    assert len(stops) == 5
    assert (end.progress.failed, end.progress.retries) == (0, None)


def silent(minutes):
    """From then on every trial of one loss says nothing in its second step."""

    def look(scheduler, jobs):
        for running in scheduler._running.all():
            if running.spec.search.loss == "proxy_anchor" and running.history.num_reports == 1:
                running.heard = time.monotonic() - minutes * 60

    return look


def test_a_trial_that_is_silent_for_too_long_is_killed_and_continues_from_its_checkpoint(
    tmp_path, undisturbed_tiny
):
    hung = set()

    def look(scheduler, jobs):
        for running in scheduler._running.all():
            trial_id = running.spec.trial_id
            if running.history.num_reports == 2 and trial_id not in hung:
                running.heard -= 61 * 60
                hung.add(trial_id)

    end = run_tiny(tmp_path, ScriptedExecutor(at_step=look))
    assert end.progress.failed == 0
    assert end.progress.retries == f"{len(hung)} (stuck {len(hung)})"
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)
    for trial_id in hung:
        first, second = attempts_at(tmp_path, trial_id)
        assert (first.cause, first.reports) == ("stuck", 2)
        assert "said nothing for 60 minutes" in first.message
        assert second.cause != "stuck"


def test_a_trial_that_is_always_silent_fails_as_stuck(tmp_path):
    run_tiny(tmp_path, ScriptedExecutor(at_step=silent(61)))
    trials = failed(tmp_path)
    assert set(trials["cause"]) == {"stuck"}
    assert set(trials["loss"]) == {"proxy_anchor"}
    assert "it got stuck 3 times without an epoch in between" in trials["message"][0]
    assert "resources.stuck_minutes: 60 is too short" in trials["message"][0]


@pytest.mark.parametrize("stuck_minutes", [62.0, None])
def test_silence_that_is_allowed_is_no_loss(tmp_path, stuck_minutes):
    end = run_tiny(tmp_path, ScriptedExecutor(at_step=silent(61)), stuck_minutes=stuck_minutes)
    assert (end.progress.failed, end.progress.retries) == (0, None)


def test_time_in_a_queue_is_nobodys_time(tmp_path):
    waited = {}

    def begins(job):
        waited[job.trial_id] = waited.get(job.trial_id, 0) + 1
        return waited[job.trial_id] > 3

    def look(scheduler, jobs):
        for running in scheduler._running.all():
            if running.begun is None:
                running.handed_out -= 1000 * 3600

    executor = ScriptedExecutor(at_step=look, begins=begins)
    end = run_tiny(tmp_path, executor, trial_hours=1.0, stuck_minutes=1.0)
    assert (end.progress.failed, end.progress.retries) == (0, None)

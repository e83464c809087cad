"""A run stops for what every trial would hit, and goes on past what is one trial's own."""

from dataclasses import replace

import pytest
from polars.testing import assert_frame_equal

from podium.errors import PodiumError
from podium.trainables.errors import DataError, TrialInputError
from tests.orchestrator.scripted import (
    TINY,
    ScriptedExecutor,
    failed,
    run_tiny,
)
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import rows, run_here, tables


def test_data_that_vanish_in_the_middle_stop_the_run_and_fail_no_trial(tmp_path, undisturbed_tiny):
    steps = []

    def unmounted(settings, *, resume, save, keep):
        for report in simulated_trial(settings, resume=resume, save=save):
            steps.append(report)
            if len(steps) > 20:
                raise OSError(107, "Transport endpoint is not connected", "/data/images")
            yield report

    with pytest.raises(PodiumError, match=r"(?s)data could not be read 3 times.*/data/images"):
        run_tiny(tmp_path, ScriptedExecutor(trial=unmounted))
    assert len(rows(tmp_path, TINY)) > 0
    assert failed(tmp_path).is_empty()
    run_tiny(tmp_path, ScriptedExecutor())
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)


def test_data_that_come_back_are_waited_for(tmp_path, undisturbed_tiny):
    calls = []

    def flaky(settings, *, resume, save, keep):
        calls.append(settings)
        if len(calls) % 3:
            raise DataError("images.zip cannot be read")
        yield from simulated_trial(settings, resume=resume, save=save)

    end = run_tiny(tmp_path, ScriptedExecutor(trial=flaky))
    assert end.progress.failed == 0
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)


def test_the_same_message_from_several_losses_in_a_row_stops_a_run_that_worked(tmp_path):
    steps = []

    def breaks(settings, *, resume, save, keep):
        steps.append(settings)
        if len(steps) > 4:
            raise TrialInputError("the plug-in has no loss any more")
        yield from simulated_trial(settings, resume=resume, save=save)

    study = replace(TINY, search=replace(TINY.search, trials=6))
    with pytest.raises(
        PodiumError, match=r"3 trials in a row.*contrastive, proxy_anchor.*plug-in"
    ):
        run_here(study, tmp_path, ScriptedExecutor(trial=breaks))
    assert len(failed(tmp_path)) == 2


def test_words_that_differ_or_trials_that_work_in_between_stop_nothing(tmp_path):
    steps = []

    def picky(settings, *, resume, save, keep):
        steps.append(settings)
        is_searched = settings.hyperparameters.get("margin") not in (0.1, 0.5)
        if not settings.evaluate_test and is_searched:
            raise TrialInputError(f"margin {settings.hyperparameters['margin']} is no good")
        yield from simulated_trial(settings, resume=resume, save=save)

    study = replace(TINY, search=replace(TINY.search, trials=6))
    end = run_here(study, tmp_path, ScriptedExecutor(trial=picky))
    assert end.progress.failed > 5
    assert end.progress.trials_done == end.progress.trials_planned


def test_a_device_that_fails_three_times_fails_its_trial_and_no_other(tmp_path):
    def ill(settings, *, resume, save, keep):
        if settings.loss == "proxy_anchor" and settings.evaluate_test:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        yield from simulated_trial(settings, resume=resume, save=save)

    run_tiny(tmp_path, ScriptedExecutor(trial=ill))
    trials = failed(tmp_path)
    assert set(trials["cause"]) == {"device"}
    assert set(trials["attempts"]) == {3}
    assert set(trials["stage"]) == {"final"}
    assert trials["traceback"].str.contains("illegal memory access").all()

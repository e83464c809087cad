"""The log file of a trial: what is in it, how large it gets, and when it is written."""

import logging
from dataclasses import replace

import pytest

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.worker import trial_log
from podium.trainables.trial_reports import EpochReport
from tests.orchestrator.results.store_rows import new_store
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.trial_worker import TrialWorker
from tests.orchestrator.worker.test_trial_worker import job_in, run


@pytest.fixture
def paths(tmp_path) -> StudyPaths:
    return new_store(tmp_path)


def talking(*texts, error=None):
    """A trial that prints these texts before its epochs, and may raise an error after them."""

    def trial(settings, *, resume, save, keep=None):
        for text in texts:
            print(text)
        logging.getLogger("steps").warning("a scheduler was stepped twice")
        yield from simulated_trial(settings, resume=resume, save=save)
        if error is not None:
            raise error

    return trial


def log_of(paths) -> str:
    return paths.trial_log("t0").read_text()


def test_a_log_has_what_was_printed_and_warned_and_a_line_for_each_epoch(paths):
    (*_, ended) = run(TrialWorker(talking("hello")), job_in(paths))
    log = log_of(paths)
    assert "attempt 1 on " in log
    assert "hello\n" in log
    assert "a scheduler was stepped twice" in log
    assert [f"fold 0 epoch {epoch}: " in log for epoch in (1, 2, 3)] == [True] * 3
    assert "val R@1 0." in log
    assert log.rstrip().endswith("complete")
    assert ended.log is not None, "the row has what was printed"
    assert "epoch 1" not in ended.log, "and no lines on epochs"


def test_of_a_long_log_the_beginning_and_the_end_are_kept_and_no_secret(paths, monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "kq3v9x7w2m5b8n4c")
    texts = ["first words kq3v9x7w2m5b8n4c", *("x" * 99 for _ in range(20_000)), "last words"]
    run(TrialWorker(talking(*texts)), job_in(paths))
    log = log_of(paths)
    assert len(log) < 65 * 1024
    assert "first words ***" in log
    assert "last words" in log
    assert "epoch 3" in log
    assert "[... left out ...]" in log


def test_a_second_attempt_continues_the_log_and_it_stays_bounded(paths):
    many = ["x" * 99 for _ in range(2_000)]
    for attempt in (1, 2, 3):
        run(TrialWorker(talking(*many)), job_in(paths, attempt=attempt))
    log = log_of(paths)
    assert "attempt 1 on" in log
    assert "complete" in log
    assert len(log) < 65 * 1024
    run(TrialWorker(talking("again")), job_in(paths, attempt=4))
    assert "attempt 4 on" in log_of(paths)


@pytest.mark.parametrize("worker_stops", [True, False])
def test_a_trial_that_is_stopped_leaves_its_log(paths, worker_stops):
    worker = TrialWorker(talking("hello"))
    worker.start(job_in(paths))
    worker.step()
    if worker_stops:
        worker.stop()
    else:
        worker.start(job_in(paths, attempt=2))
        worker.stop()
    assert "hello" in log_of(paths)
    assert "stopped" in log_of(paths)


def test_beyond_the_logs_that_are_kept_only_trials_that_fail_leave_one(paths):
    run(TrialWorker(talking("hello")), replace(job_in(paths), keeps_log=False))
    assert not paths.trial_log("t0").exists()
    failing = TrialWorker(talking(error=ValueError("no such thing")))
    run(failing, replace(job_in(paths), keeps_log=False))
    assert "no such thing" in log_of(paths)


def test_a_log_that_is_not_kept_is_there_while_the_trial_runs(paths, monkeypatch):
    monkeypatch.setattr(trial_log, "_WRITE_SECONDS", 0.0)
    worker = TrialWorker(simulated_trial)
    worker.start(replace(job_in(paths), keeps_log=False))
    worker.step()
    assert "fold 0 epoch 1: " in log_of(paths)
    worker.stop()
    assert not paths.trial_log("t0").exists()


def test_the_scores_of_epochs_are_read_from_a_log(paths):
    texts = ["fold 0 epoch 9: val R@1 0.9, 1 MB", "[12:00:00] fold 0 epoch x: val R@1 1, 2 s"]
    messages = run(TrialWorker(talking(*texts)), job_in(paths))
    reported = {
        (report.fold, report.epoch): next(it.value for it in report.scores if it.role == "val")
        for report in messages
        if isinstance(report, EpochReport)
    }
    assert reported
    assert trial_log.epoch_scores(log_of(paths)) == pytest.approx(reported, rel=1e-3)
    assert trial_log.epoch_scores("") == {}


def test_a_log_that_cannot_be_written_is_no_failure(paths):
    paths.folder.joinpath("logs").write_text("in the way")
    (*_, ended) = run(TrialWorker(talking("hello")), job_in(paths))
    assert ended.state == "COMPLETE"

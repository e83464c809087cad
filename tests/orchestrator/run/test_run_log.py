"""The log file of a run: what it says and decides, bounded, without secrets."""

import logging

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run import run_log as module
from podium.orchestrator.run.run_log import run_log
from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.small_study import STUDY, run_here

LOG = logging.getLogger("podium.test")


def texts(folder):
    return [file.read_text() for file in sorted(folder.glob("logs/run-*.log"))]


def test_a_run_leaves_a_log_of_what_it_decided_that_verify_knows(tmp_path):
    run_here(STUDY, tmp_path)
    (text,) = texts(tmp_path / "small")
    assert "search trial " in text
    assert ": attempt 1, 1 running" in text
    assert ": COMPLETE after 4 epochs, objective 0." in text
    assert ": PRUNED after " in text
    assert not [found for found in verify_store(tmp_path / "small").problems if "logs" in found]


def test_a_long_log_keeps_its_beginning_and_its_end_and_no_secrets(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_KEPT_CHARACTERS", 1_000)
    monkeypatch.setenv("MY_API_TOKEN", "s3cr3t-value-of-mine")
    with run_log(StudyPaths(tmp_path)):
        LOG.debug("first with s3cr3t-value-of-mine")
        for number in range(10_000):
            LOG.debug("number %d", number)
    (text,) = texts(tmp_path)
    assert len(text) < 2_100
    assert text.splitlines()[0].endswith("first with ***")
    assert "[... left out ...]" in text
    assert text.endswith("number 9999\n")


def test_of_many_runs_the_latest_logs_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MAX_LOGS", 2)
    (tmp_path / "logs").mkdir()
    for year in (2020, 2021, 2022):
        (tmp_path / "logs" / f"run-{year}0101T000000Z.log").write_text(str(year))
    (tmp_path / "logs" / "trials.log").write_text("another's")
    with run_log(StudyPaths(tmp_path)):
        LOG.info("now")
    kept = texts(tmp_path)
    assert kept[0] == "2022"
    assert kept[1].endswith("now\n")
    assert (tmp_path / "logs" / "trials.log").exists()


def test_an_error_ends_the_log_and_levels_are_as_before(tmp_path):
    before = logging.getLogger("podium").level
    try:
        with run_log(StudyPaths(tmp_path)):
            raise ValueError("no more")
    except ValueError:
        pass
    assert "the run ended by ValueError: no more" in texts(tmp_path)[0]
    assert logging.getLogger("podium").level == before

import logging
import os
import random
import signal
import time
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote

import pytest
from polars.testing import assert_frame_equal

from podium.errors import StoreError
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage import transient_errors
from podium.orchestrator.results.storage.files import (
    list_files,
    put,
    read_bytes,
    stored_files,
)
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.results.trial_files.reader import Reader
from tests.object_store import KEY, SECRET, proxied
from tests.orchestrator.results.store_rows import check_store
from tests.orchestrator.run_small_study import TINY
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, tables
from tests.podium.warm_process import Started


@pytest.fixture(scope="module")
def local_tables(tmp_path_factory):
    """The tables of the study on a local disk."""
    storage = tmp_path_factory.mktemp("local")
    run_here(TINY, storage)
    return tables(storage, TINY)


def downloaded(storage: RemotePath, folder: Path) -> Path:
    for file in stored_files(storage):
        content = read_bytes(storage / file.path)
        assert content is not None
        put(folder / file.path, content)
    return folder


def test_a_study_on_s3_gives_the_tables_of_a_local_one_and_shows_no_credentials(
    bucket, tmp_path, local_tables, capsys, caplog
):
    with caplog.at_level(logging.DEBUG):
        end = run_here(TINY, bucket)
    assert not end.interrupted
    assert_frame_equal(tables(downloaded(bucket, tmp_path), TINY), local_tables)
    check_secrets(tmp_path, capsys, caplog, bucket)
    progress = FollowedStudy(bucket / TINY.name).view().progress
    assert (progress.running, progress.failed) == (0, 0)
    before = len(local_tables)
    assert check_store(StudyPaths(bucket / TINY.name)) == before
    run_here(TINY, bucket)  # nothing is left to do
    assert_frame_equal(tables(downloaded(bucket, tmp_path / "again"), TINY), local_tables)


def check_secrets(folder, capsys, caplog, bucket):
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert SECRET.encode() not in content, file
            assert KEY.encode() not in content, file
    said = capsys.readouterr()
    text = "".join(r.getMessage() for r in caplog.records if r.name != "werkzeug")
    for secret in (SECRET, KEY):
        assert secret not in said.out + said.err + text + repr(bucket) + repr(StudyPaths(bucket))


def test_a_study_outlives_a_store_that_is_slow_fails_and_goes_away(
    s3_service, tmp_path, local_tables, caplog, monkeypatch
):
    monkeypatch.setattr(transient_errors, "_FIRST_PAUSE_SECONDS", 0.02)
    with proxied(s3_service) as (proxy, bucket):
        faults = random.Random(5)
        away = []

        def fault(method, path):
            now = time.monotonic()
            if len(proxy.requests) in (60, 200):
                away.append(now + 1.0)
            if away and now < away[-1]:
                return "reset"
            if faults.random() < 0.06:
                return faults.choice(["slow down", "reset", "lose answer", 0.1])
            return None

        proxy.fault = fault
        end = run_here(TINY, bucket)
        proxy.fault = lambda method, path: None
        assert end.progress.failed == 0
        assert len(away) == 2
        assert_frame_equal(tables(downloaded(bucket, tmp_path), TINY), local_tables)
        assert list_files(bucket / TINY.name / "checkpoints", "", in_subfolders=True) == []
    assert "trying again" in caplog.text


def saving_when_due(settings, *, resume, save, keep=None):
    """As a real trial: one that is over before its state is due saves none."""

    def if_due(state):
        if save.is_due():
            save(state)

    yield from simulated_trial(settings, resume=resume, save=if_due)


KINDS = {
    "logs": "log",
    "checkpoints": "checkpoint",
    "trials": "row",
    "journal": "journal",
    "lock": "lock",
}
OWN = Counter({"PUT log": 1, "PUT row": 1})


def test_a_trial_costs_few_requests(s3_service):
    with proxied(s3_service) as (proxy, bucket):
        run_here(TINY, bucket, InProcessExecutor(saving_when_due))
        asked = [(method, unquote(path)) for method, path in proxy.requests]
        trials = Reader(bucket / TINY.name).trials().collect()
    of_trial = requests_by_trial(asked, trials["trial_id"])
    for trial_id in trials["trial_id"]:
        own = of_trial.pop(trial_id)
        saves = own.pop("PUT checkpoint", 0)
        assert own == OWN | Counter({"POST checkpoint": min(saves, 1)})
    of_run = of_trial.pop("")
    assert not of_trial
    assert len(trials) == 17
    assert set(trials["state"]) == {"COMPLETE", "PRUNED"}
    searched = trials.filter(stage="search")["search"]
    # Each ask, which takes attempts along, and at the end what is left of each search.
    num_journals = trials["search"].n_unique()
    assert len(searched) < of_run["PUT journal"] <= len(searched) + 2 * num_journals
    assert of_run["GET journal"] == 0
    assert of_run["LIST row"] <= len(trials) + 24
    counted = of_run["PUT journal"] + of_run["LIST row"]
    locks = sum(of_run[f"{method} lock"] for method in ("GET", "LIST", "PUT"))
    assert of_run.total() - counted - locks <= 94


def requests_by_trial(asked, trial_ids):
    """Trial id -> its requests, of each method and kind of object; those of no trial by ""."""
    found = defaultdict(Counter)
    for method, path in asked:
        named = next((trial_id for trial_id in trial_ids if trial_id in path), "")
        kind = next((kind for folder, kind in KINDS.items() if f"/{folder}" in path), "other")
        found[named]["LIST " + kind if "list-type" in path else f"{method} {kind}"] += 1
    return found


def test_a_store_that_forbids_writing_ends_the_run_with_one_message(s3_service):
    with proxied(s3_service) as (proxy, bucket):
        proxy.fault = lambda method, path: (
            "forbidden" if method == "PUT" and len(proxy.requests) > 80 else None
        )
        with pytest.raises(StoreError, match="the credentials of this node do not allow it"):
            run_here(TINY, bucket)


def test_a_driver_killed_on_s3_is_continued_by_the_next(
    s3_service, bucket, tmp_path, local_tables
):
    """A process of its own, killed with SIGKILL."""
    running = Started(bucket, module="tests.orchestrator.run_small_study")
    while not list_files(bucket / TINY.name / "trials", "", in_subfolders=True):
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGKILL)
    running.end()
    run_here(TINY, bucket)
    assert_frame_equal(tables(downloaded(bucket, tmp_path), TINY), local_tables)

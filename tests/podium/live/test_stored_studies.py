import json
import os
import shutil
from dataclasses import replace

import pytest

from podium.errors import PodiumError
from podium.live.stored_studies import stored_studies, stored_study
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.storage.files import put
from tests.object_store import proxied
from tests.orchestrator.results.locking import held_by_another_process
from tests.orchestrator.results.store_rows import change_json
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import InterruptedAfter, run_here, with_search

SMALLEST = replace(with_search(trials=2), embedding_dims=(8,))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results folder of a complete study, which nothing may change."""
    storage = tmp_path_factory.mktemp("finished")
    run_here(SMALLEST, storage)
    return storage / SMALLEST.name


@pytest.fixture
def study(finished, tmp_path):
    """A copy in a storage folder of its own."""
    return shutil.copytree(finished, tmp_path / "results" / finished.name)


@pytest.fixture
def remote_study(finished, bucket):
    """A copy in a bucket."""
    return uploaded(finished, bucket / "results" / finished.name)


def uploaded(folder, place):
    for file in folder.rglob("*"):
        if file.is_file():
            put(place / file.relative_to(folder).as_posix(), file.read_bytes())
    return place


def test_a_complete_study_has_all_its_trials_and_the_size_of_its_files(study):
    found = stored_study(study)
    files = [path for path in study.rglob("*") if path.is_file()]
    assert (found.state, found.failed, found.problem) == ("complete", 0, None)
    assert found.trials == found.planned > 2
    assert found.num_bytes == sum(file.stat().st_size for file in files)
    newest = max(file.stat().st_mtime for file in files)
    assert found.changed_at.timestamp() == pytest.approx(newest, abs=1e-3)
    assert found.trial_hours > 0
    assert stored_studies(study) == [found]
    for name in ("runs", "trials"):
        shutil.rmtree(study / name, ignore_errors=True)
    anew = stored_study(study)
    assert (anew.state, anew.trials) == ("planned", 0)
    assert anew.planned >= found.planned


def test_trials_count_alike_before_and_after_they_are_gathered(tmp_path):
    run_here(SMALLEST, tmp_path, InterruptedAfter(12))
    stopped = stored_study(tmp_path / SMALLEST.name)
    files = (tmp_path / SMALLEST.name).rglob("trials/*/*.parquet")
    loose = sum(".gathered." not in path.name for path in files)
    assert (stopped.state, stopped.trials) == ("stopped", loose)
    assert stopped.trials < stopped.planned
    end = run_here(SMALLEST, tmp_path)
    assert stored_study(tmp_path / SMALLEST.name).trials == end.progress.trials_done


def test_failed_trials_are_counted_until_they_are_retried(tmp_path):
    def failing(settings, **options):
        if settings.evaluate_test:
            raise ValueError(f"no, {settings.loss} {settings.seed}")
        yield from simulated_trial(settings, **options)

    run_here(SMALLEST, tmp_path, InProcessExecutor(failing))
    found = stored_study(tmp_path / SMALLEST.name)
    assert found.state == "some failed"
    assert found.failed > 0
    run_here(SMALLEST, tmp_path, retried_causes=())
    found = stored_study(tmp_path / SMALLEST.name)
    assert (found.state, found.failed) == ("complete", 0)


def test_a_used_up_budget_is_told(tmp_path):
    seconds = iter(range(0, 10**9, 600))
    budget = replace(SMALLEST.budget, wall_hours=1)
    run_here(replace(SMALLEST, budget=budget), tmp_path, clock=lambda: float(next(seconds)))
    assert stored_study(tmp_path / SMALLEST.name).state == "out of budget"


def test_a_study_is_running_while_a_living_process_has_its_lock(study):
    with held_by_another_process(study) as process:
        found = stored_study(study)
        assert found.state == "running"
        assert found.running_on
        process.kill()
        process.wait()
        assert stored_study(study).state == "complete"


def test_another_machines_lock_is_of_a_run_until_it_was_silent_for_long(study):
    with held_by_another_process(study):
        pass
    lock = max((study / "lock").iterdir())
    lock.write_text(
        json.dumps({**json.loads(lock.read_text()), "machine": "elsewhere", "host": "far"})
    )
    found = stored_study(study)
    assert (found.state, found.running_on) == ("running", "far")
    hour_ago = lock.stat().st_mtime - 3600
    for file in (study / "lock").iterdir():
        os.utime(file, (hour_ago, hour_ago))
    assert stored_study(study).state == "complete"


def test_what_cannot_be_read_is_listed_with_the_reason(study, tmp_path):
    storage = study.parent
    (tmp_path / "empty").mkdir()
    with pytest.raises(PodiumError, match="no studies in"):
        stored_studies(tmp_path / "empty")
    for name in ("damaged", "older"):
        shutil.copytree(study, storage / name)
    (storage / "foreign").mkdir()
    (storage / ".hidden").mkdir()
    (storage / "damaged" / "store.json").write_text("{")
    change_json(storage / "older" / "store.json", schema_version=1)
    found = {item.folder.name: item for item in stored_studies(storage)}
    states = {name: item.state for name, item in found.items()}
    assert states == {
        "damaged": "damaged",
        "foreign": "not podium's",
        "older": "unreadable",
        "small": "complete",
    }
    assert "was changed" in found["damaged"].problem
    assert found["damaged"].num_bytes > 0


def test_a_remote_study_is_listed_as_the_same_study_on_a_disk(study, remote_study, bucket):
    here, (there,) = stored_study(study), stored_studies(bucket / "results")
    for name in ("state", "trials", "planned", "failed", "trial_hours"):
        assert getattr(there, name) == getattr(here, name)
    assert there.num_bytes == here.num_bytes
    with held_by_another_process(remote_study):
        assert stored_study(remote_study).state == "running"


def test_a_remote_study_takes_few_requests_however_many_trials_it_has(study, s3_service):
    with proxied(s3_service) as (proxy, bucket):
        uploaded(study, bucket / "results" / "one")
        for number in range(40):
            put(bucket / "results" / "one" / f"asks/s/{number}.json", b"{}")
        proxy.requests.clear()
        stored_studies(bucket / "results")
        assert len(proxy.requests) <= 11, proxy.requests

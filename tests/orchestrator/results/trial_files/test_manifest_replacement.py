"""Drivers that were held up for long at the moment in which they replace the manifest."""

import threading

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage import files
from orchestrator.results.storage.locations import parse_place
from orchestrator.results.trial_files.compaction import compact, finish_compaction
from orchestrator.results.trial_files.compaction_manifest import (
    NOTHING,
    read_manifest,
    write_manifest,
)
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.withdraw_trials import withdraw_trials
from podium.errors import StoreError
from tests.object_store import proxied
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, row

BY_ANOTHER = "was replaced by another process meanwhile: two runs seem to use"


@pytest.fixture
def held_up(s3_service):
    """A store, the same behind a proxy that keeps a new manifest back, and the proxy's events."""
    held, released = threading.Event(), threading.Event()

    def keep(method, path):
        if method == "PUT" and path.endswith("/manifest.json"):
            held.set()
            assert released.wait(60)

    with proxied(s3_service) as (proxy, behind):
        proxy.fault = keep
        bucket = parse_place(f"s3://{behind.authority}?scheme=http&endpoint_override={s3_service}")
        yield new_store(bucket), StudyPaths(behind / "tiny"), held, released
        released.set()


@pytest.mark.parametrize("replaced", ["none", "first", "merged", "withdrawn"])
def test_a_manifest_on_its_way_to_a_bucket_overtaken_by_another_driver_is_refused(
    held_up, replaced
):
    store, of_first, held, released = held_up
    commit(store, row(0))
    if replaced != "none":
        compact(store)
    commit(store, row(1), row(2))
    problems = []

    def work():
        try:
            withdraw_trials(of_first, {"t000": "s0"}) if replaced == "withdrawn" else compact(
                of_first
            )
        except StoreError as error:
            problems.append(str(error))

    first = threading.Thread(target=work)
    first.start()
    assert held.wait(60)
    finish_compaction(store)  # as another does, once it has taken the study over
    commit(store, row(3), row(4))
    compact(store)
    if replaced == "merged":
        commit(store, row(5))
        compact(store)
    in_force = read_manifest(store)
    released.set()
    first.join()
    assert len(problems) == 1
    assert BY_ANOTHER in problems[0]
    assert read_manifest(store) == in_force
    assert check_store(store) == 5 + (replaced == "merged")
    commit(store, row(6))
    compact(store)
    assert check_store(store) == 6 + (replaced == "merged")


def test_a_manifest_that_another_driver_replaces_in_a_folder_waits_for_the_first(
    tmp_path, monkeypatch
):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    manifest, real = read_manifest(store), files.local_files.put
    entered, released = threading.Event(), threading.Event()

    def slowly(path, data):
        entered.set()
        assert released.wait(60)
        real(path, data)

    monkeypatch.setattr(files.local_files, "put", slowly)
    monkeypatch.setattr(files, "_GUARD_LIMIT_SECONDS", 0.05)
    first = threading.Thread(target=write_manifest, args=(store, manifest.segments, manifest))
    first.start()
    assert entered.wait(60)
    with pytest.raises(StoreError, match="another process is replacing it; try again"):
        write_manifest(store, (), manifest)
    released.set()
    first.join()
    assert read_manifest(store) == manifest
    with pytest.raises(StoreError, match=BY_ANOTHER):
        write_manifest(store, manifest.segments)  # where there was none, as it says


def test_the_last_trial_that_is_withdrawn_leaves_a_manifest_of_nothing(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    withdraw_trials(store, {"t000": "s0"})
    assert read_manifest(store) == NOTHING
    assert check_store(store) == 0
    commit(store, row(0, SCHEMA, objective=0.5))
    compact(store)
    assert check_store(store) == 1

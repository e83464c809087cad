import shutil

import polars as pl
import pytest

from orchestrator.results.records.retried import read_retried
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.retry_failed import record_retries
from orchestrator.verify.verify_store import verify_store
from tests.orchestrator.broken_trials import FRAIL, assert_sound, run_broken, run_fixed
from tests.orchestrator.results.store_rows import change_json
from tests.orchestrator.small_study import rows


@pytest.fixture(scope="module")
def retried_once(tmp_path_factory):
    storage = tmp_path_factory.mktemp("retried")
    run_broken(storage)
    run_fixed(storage)
    assert_sound(storage)
    return storage


@pytest.fixture
def paths(retried_once, tmp_path):
    shutil.copytree(retried_once, tmp_path, dirs_exist_ok=True)
    return StudyPaths(tmp_path / FRAIL.name)


def some_file(paths):
    trial_id = min(read_retried(paths))
    return paths.retried_failure(trial_id, 1)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"cause": "bad luck"}, "a cause must be one of diverged"),
        ({"asks": 99}, "so no more can have been made by then"),
        ({"attempts": 2}, "its row must be of a later one"),
    ],
)
def test_a_record_that_does_not_fit_its_study_is_named(paths, values, rule):
    change_json(some_file(paths), **values)
    (problem,) = verify_store(paths.folder).problems
    assert rule in problem.rule


def test_a_gap_between_records_is_named(paths):
    file = some_file(paths)
    change_json(file, number=2)
    file.rename(file.with_name("2.json"))
    (problem,) = verify_store(paths.folder).problems
    assert "numbered from 1 without a gap" in problem.rule


def test_a_damaged_record_is_named(paths):
    file = some_file(paths)
    file.write_bytes(file.read_bytes()[:-20])
    assert str(file) in [problem.file for problem in verify_store(paths.folder).problems]


def test_a_final_of_no_winner_at_any_time_is_still_named(paths):
    """Failures that were retried excuse finals of a former winner, and no others."""
    for failures in read_retried(paths).values():
        for failure in failures:
            paths.retried_failure(failure.trial_id, failure.number).unlink()
    assert any(
        "the winner of its search is" in it.rule for it in verify_store(paths.folder).problems
    )


def test_failures_that_are_recorded_and_have_rows_yet_are_a_note(tmp_path):
    run_broken(tmp_path)
    paths = StudyPaths(tmp_path / FRAIL.name)
    failed = rows(tmp_path, FRAIL).filter(pl.col("state") == "FAILED")
    record_retries(paths, Reader(paths.folder), (), lambda line: None)
    found = verify_store(paths.folder)
    assert found.problems == []
    (note,) = found.notes
    assert note.rule.startswith(f"{len(failed)} failed trials are to be retried")

"""Every rule on searches, asks, attempts, finals and failures, violated with right checksums."""

import shutil
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.results.records.attempts import read_attempt_file, write_attempt
from orchestrator.results.records.retried import read_retried
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.retry_failed import record_retries
from orchestrator.verify.verify_store import verify_store
from tests.orchestrator.broken_trials import FRAIL, assert_sound, run_broken, run_fixed
from tests.orchestrator.damaged_stores import TINY, a_file, copy_of, problems, run
from tests.orchestrator.results.store_rows import change_json, change_text, rewrite_gathered
from tests.orchestrator.small_study import rows

ASKS = {
    "trial_id": ("0123456789abcdef", "its config is trial"),
    "config_hash": ("0123456789abcdef", "config_hash must be that of its config"),
    "source": ("given", "ask 0, and no other, is the published default"),
}


@pytest.mark.parametrize("key", ASKS)
def test_an_ask_that_breaks_a_rule_is_named(interrupted, tmp_path, key):
    value, told = ASKS[key]
    paths = copy_of(interrupted, tmp_path)
    change_json(a_file(paths, "asks/*/000000.json"), **{key: value})
    assert f"000000.json: {told}" in problems(paths.folder)


def test_a_suggestion_that_no_sampler_makes_is_named_by_a_replay(finished, tmp_path):
    paths = copy_of(finished, tmp_path)
    change_text(paths.study, "\nseed: ", "\nseed: 9")
    assert "its config is trial" in problems(paths.folder)


def test_finals_of_another_config_than_the_best_are_named(tmp_path):
    run(tmp_path, replace(TINY, search=replace(TINY.search, trials=5)))
    paths = StudyPaths(tmp_path / TINY.name)
    file = a_file(paths, "trials/*/*.gathered.parquet")
    table = pq.ParquetFile(file).read()
    rows = table.to_pylist()
    for row in rows:
        row["is_winner"] = row["stage"] == "final" and not row["is_winner"]
    rewrite_gathered(file, pa.Table.from_pylist(rows, schema=table.schema))
    assert "the winner of its search is config" in problems(paths.folder)


def test_more_trials_than_the_budget_are_named(finished, tmp_path):
    paths = copy_of(finished, tmp_path)
    change_json(a_file(paths, "runs/*.json"), trials_per_search=3)
    change_text(paths.study, "trials: 5", "trials: 3")
    assert "no search may have more trials than its 3; it is 5" in problems(paths.folder)


def test_weights_of_another_trial_and_missing_ones_are_named(finished, tmp_path):
    paths = copy_of(finished, tmp_path)
    first, second = a_file(paths, "models/*"), a_file(paths, "models/*", 1)
    first.write_bytes(second.read_bytes())
    second.unlink()
    found = problems(paths.folder)
    assert f"{first.name}: must be of trial {first.name.split('.')[0]}" in found
    assert f"{second.name}: trial" in found
    assert "the study keeps models; it is missing" in found


def test_an_attempt_that_cannot_be_read_is_reported_once_and_not_as_a_gap_too(
    interrupted, tmp_path
):
    paths = copy_of(interrupted, tmp_path)
    first = a_file(paths, "attempts/*/*-1.json")
    attempt = read_attempt_file(paths, first)
    write_attempt(paths, replace(attempt, number=2))
    first.write_bytes(first.read_bytes()[:-9])
    (found,) = verify_store(paths.folder).problems
    assert found.file == str(first)


@pytest.fixture(scope="module")
def retried_once(tmp_path_factory):
    storage = tmp_path_factory.mktemp("retried")
    run_broken(storage)
    run_fixed(storage)
    assert_sound(storage)
    return storage


@pytest.fixture
def failure(retried_once, tmp_path):
    """The file of a failure in a folder of its own."""
    paths = copy_of(StudyPaths(retried_once / FRAIL.name), tmp_path)
    return paths.retried_failure(min(read_retried(paths)), 1)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"cause": "bad luck"}, "a cause must be one of diverged"),
        ({"asks": 99}, "so no more can have been made by then"),
        ({"attempts": 2}, "its row must be of a later one"),
        ({"number": 2}, "numbered from 1 without a gap"),
    ],
)
def test_a_retried_failure_that_does_not_fit_its_study_is_named(failure, values, rule):
    change_json(failure, **values)
    failure.rename(failure.with_name(f"{values.get('number', 1)}.json"))
    (problem,) = verify_store(failure.parents[2]).problems
    assert rule in problem.rule


def test_a_damaged_failure_is_named_and_excuses_no_final(failure):
    """Failures that were retried excuse finals of a former winner, and no others."""
    failure.write_bytes(failure.read_bytes()[:-20])
    assert str(failure) in problems(failure.parents[2])
    shutil.rmtree(failure.parents[1])
    assert "the winner of its search is" in problems(failure.parents[2])


def test_failures_that_are_recorded_and_have_rows_yet_are_a_note(tmp_path):
    run_broken(tmp_path)
    paths = StudyPaths(tmp_path / FRAIL.name)
    failed = rows(tmp_path, FRAIL).filter(pl.col("state") == "FAILED")
    record_retries(paths, Reader(paths.folder), (), lambda line: None)
    found = verify_store(paths.folder)
    assert found.problems == []
    (note,) = found.notes
    assert note.rule.startswith(f"{len(failed)} failed trials are to be retried")

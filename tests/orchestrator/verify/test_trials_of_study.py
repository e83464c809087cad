"""Every rule on searches, asks, attempts, finals and failures, violated with right checksums."""

from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.results.records.journal import (
    Journal,
    read_asks,
    read_attempts,
    read_retried,
)
from orchestrator.results.records.retried import RetriedFailure
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.retry_failed import record_retries
from orchestrator.verify.verify_store import verify_store
from tests.orchestrator.broken_trials import FRAIL, assert_sound, run_broken, run_fixed
from tests.orchestrator.damaged_stores import TINY, a_file, copy_of, problems, run
from tests.orchestrator.journals import rewrite
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
    (first, *_), *_ = read_asks(paths).values()
    search = a_file(paths, "journal/*").name
    rewrite(paths, search, lambda it: replace(it, **{key: value}) if it == first else it)
    assert f"{search}: {told}" in problems(paths.folder)


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


def test_a_journal_that_cannot_be_read_is_reported_and_its_attempts_are_no_gaps(
    interrupted, tmp_path
):
    paths = copy_of(interrupted, tmp_path)
    first = a_file(paths, "journal/*/000001.jsonl")
    first.write_bytes(first.read_bytes()[9:])
    found = verify_store(paths.folder).problems
    assert first.name in "\n".join(map(str, found))
    assert "attempts" not in "\n".join(it.rule for it in found)


@pytest.fixture(scope="module")
def retried_once(tmp_path_factory):
    storage = tmp_path_factory.mktemp("retried")
    run_broken(storage)
    run_fixed(storage)
    assert_sound(storage)
    return storage


@pytest.fixture
def retried(retried_once, tmp_path):
    """A folder with failures that were retried, and the first of them."""
    paths = copy_of(StudyPaths(retried_once / FRAIL.name), tmp_path)
    found = read_retried(paths)
    return paths, found[min(found)][0]


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"cause": "bad luck"}, "a cause must be one of diverged"),
        ({"asks": 99}, "so no more can have been made by then"),
        ({"attempts": 2}, "its row must be of a later one"),
        ({"number": 2}, "numbered from 1 without a gap"),
    ],
)
def test_a_retried_failure_that_does_not_fit_its_study_is_named(retried, values, rule):
    paths, failure = retried
    rewrite(paths, failure.search, lambda it: replace(it, **values) if it == failure else it)
    (problem,) = verify_store(paths.folder).problems
    assert rule in problem.rule


def test_failures_that_were_retried_excuse_finals_of_a_former_winner_and_no_others(retried):
    paths, failure = retried
    attempt = next(it for it in read_attempts(paths) if it.search == failure.search)
    rewrite(paths, failure.search, lambda it: attempt if isinstance(it, RetriedFailure) else it)
    assert "the winner of its search is" in problems(paths.folder)


def test_failures_that_are_recorded_and_have_rows_yet_are_a_note(tmp_path):
    run_broken(tmp_path)
    paths = StudyPaths(tmp_path / FRAIL.name)
    failed = rows(tmp_path, FRAIL).filter(pl.col("state") == "FAILED")
    record_retries(Journal(paths), Reader(paths.folder), (), lambda line: None)
    found = verify_store(paths.folder)
    assert found.problems == []
    (note,) = found.notes
    assert note.rule.startswith(f"{len(failed)} failed trials are to be retried")

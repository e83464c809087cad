"""Every rule that verify knows, violated in a file whose checksum is right."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.results.records.attempts import read_attempt_file, write_attempt
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_checksummed
from orchestrator.verify.verify_store import verify_store
from tests.orchestrator.damaged_stores import (
    TINY,
    a_file,
    copy_of,
    problems,
    run,
)
from tests.orchestrator.results.store_rows import (
    change_json,
    change_text,
    rewrite,
    rewrite_gathered,
)

# Rules of rows: a column, its new value, and what is told.

ROWS = {
    "seed": (5, "seed must be"),
    "config_hash": ("0123456789abcdef", "config_hash must be"),
    "hp.margin": (0.123, "hp.margin must be"),
    "loss": ("triplet", "loss must be"),
    "split_hash": ("abc", "split_hash must be"),
    "protocol_hash": ("abc", "protocol_hash must be"),
    "weights": ("abc", "trial_id must be"),
    "stage": ("other", "stage must be one of"),
    "state": ("DONE", "state must be one of COMPLETE, PRUNED, FAILED; it is 'DONE'"),
    "cause": ("diverged", "FAILED trials, and no others, must have a cause"),
    "rung": (7, "PRUNED trials, and no others, must have a rung"),
    "message": ("oh", "only a FAILED trial has a message"),
    "objective": (0.5, "objective must be .*, recomputed from scores"),
    "val_recall_at_2": (0.5, "val_recall_at_2 must be"),
    "test_recall_at_1": (0.5, "test_recall_at_1 must be None, recomputed from test_scores"),
    "epoch_selected": (1, "epoch_selected must be"),
    "epochs_run": (3, "epochs_run must be"),
    "selection_rule": ("best", "selection_rule must be 'best_val_epoch'"),
    "test_readings": (1, "test_readings must be 0, counted from its scores"),
    "attempts": (9, "there must be 9 attempts"),
    "selected_from": (4, "selected_from must be set in the final stage, and only there"),
    "index": (4, "index must be 0, by its ask"),
    "is_default": (False, "is_default must be True, by its ask"),
    "seconds": (float("inf"), "seconds must be a finite number"),
    "settings": ("{", "settings must be JSON of a trial"),
    "search": ("x", "holds a row with search 'x'"),
    "trial_id": ("x", "holds a row with trial_id 'x'"),
    "study": ("x", "holds a row with study 'x'"),
    "same_as": ("x", "is a copy of a trial that has no row"),
}


def first_trial(paths):
    """The default's: a COMPLETE trial with every epoch."""
    ask = read_checksummed(a_file(paths, "asks/*/000000.json"))
    return paths.trial(ask["search"], ask["trial_id"])


def change_column(path, name, value):
    table = pq.ParquetFile(path).read()
    index = table.column_names.index(name)
    field = table.schema.field(index)
    rewrite(path, table.set_column(index, field, pa.array([value], field.type)))


@pytest.mark.parametrize("column", ROWS)
def test_a_row_that_breaks_a_rule_is_named(interrupted, tmp_path, column):
    value, told = ROWS[column]
    paths = copy_of(interrupted, tmp_path)
    change_column(first_trial(paths), column, value)
    found = [str(problem) for problem in verify_store(paths.folder).problems]
    assert any(matches(told, line) for line in found), found


def matches(pattern, text):
    return all(part in text for part in pattern.split(".*"))


def change_score(paths, change, column="scores"):
    path = first_trial(paths)
    scores = pq.ParquetFile(path).read()[column].to_pylist()[0]
    (first,) = [score for score in scores if is_last(score)]
    change(first)
    change_column(path, column, scores)


def is_last(score):
    return score["role"] == "val" and score["k"] == 1 and score["epoch"] == 4


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"value": 1.5}, "val recall at 1 of epoch 4 must be between 0 and 1"),
        ({"value": float("nan")}, "must be a finite number"),
        ({"hits": 3}, "must be 3 / 200"),
        ({"metric": "tar_at_far", "hits": 3}, "val tar_at_far at 1 of epoch 4 must be 3 / 200"),
        ({"metric": "eer", "value": 1.5}, "val eer at 1 of epoch 4 must be between 0 and 1"),
        ({"hits": 199, "value": 199 / 200}, "must add up to its score"),
    ],
)
def test_a_score_that_breaks_a_rule_is_named(interrupted, tmp_path, change, told):
    paths = copy_of(interrupted, tmp_path)
    change_score(paths, lambda score: score.update(change))
    assert told in problems(paths.folder)


def test_a_test_score_in_a_search_is_named_unless_the_study_records_them(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    path = first_trial(paths)
    scores = pq.ParquetFile(path).read()["scores"].to_pylist()[0]
    change_column(path, "test_scores", [{**scores[-1], "role": "test"}])
    assert "a trial of a search must have no test scores" in problems(paths.folder)


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


@pytest.mark.parametrize("cause", ["bad luck", "out_of_host_memory"])
def test_a_cause_that_no_row_has_is_named(interrupted, tmp_path, cause):
    paths = copy_of(interrupted, tmp_path)
    change_column(first_trial(paths), "state", "FAILED")
    change_column(first_trial(paths), "cause", cause)
    assert "a cause must be one of collapsed, device, diverged" in problems(paths.folder)


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

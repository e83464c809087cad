"""Every rule on rows, asks, attempts, finals and failures, violated with right checksums."""

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.orchestrator.results.records.journal import (
    Journal,
    read_asks,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.retry_failed import record_retries
from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.broken_trials import FRAIL, run_broken
from tests.orchestrator.changed_folders import change_study
from tests.orchestrator.damaged_stores import TINY, a_file, copy_of, problems
from tests.orchestrator.journals import rewrite
from tests.orchestrator.results.store_rows import change_json, rewrite_gathered
from tests.orchestrator.results.store_rows import rewrite as rewrite_rows
from tests.orchestrator.shared_finals import SMALL, run_planted

# Other values of a row, and what is told.

OTHER_TRIAL = "must be of a trial that the study has, in all that says which it is"
ROWS = [
    ({"seed": 5}, OTHER_TRIAL),
    ({"config_hash": "0123456789abcdef"}, OTHER_TRIAL),
    ({"loss": "triplet"}, OTHER_TRIAL),
    ({"leaks": True}, OTHER_TRIAL),
    ({"split_hash": "abc"}, OTHER_TRIAL),
    ({"protocol_hash": "abc"}, OTHER_TRIAL),
    ({"weights": "abc"}, "the weights of conv_small must be what its trials began with"),
    ({"stage": "other"}, "stage must be search, final or baseline; it is 'other'"),
    ({"state": "DONE"}, "state must be COMPLETE, PRUNED or FAILED; it is 'DONE'"),
    ({"cause": "diverged"}, "FAILED trials, and no others, must have a cause"),
    ({"state": "FAILED", "cause": "bad luck"}, "a cause must be one of collapsed, device"),
    ({"state": "FAILED", "cause": "out_of_host_memory"}, "a cause must be one of collapsed"),
    ({"rung": 7}, "PRUNED trials of a search, and no others, must have a rung"),
    ({"selected_from": 4}, "selected_from must be set in the final stage, and only there"),
    ({"is_default": False}, OTHER_TRIAL),
    ({"seconds": float("inf")}, "seconds must be a finite number"),
    ({"search": "x"}, "holds a row with search 'x'"),
    ({"trial_id": "x"}, "holds a row with trial_id 'x'"),
    ({"study": "x"}, "holds a row with study 'x'"),
    ({"same_as": "x"}, "it is a copy of trial x, which has no row"),
    (
        {"test_scores": [{"fold": 0, "epoch": 4, "role": "test", "metric": "recall", "k": 1}]},
        "a trial of a search must have no test scores",
    ),
]


def first_trial(paths):
    """The default's: a COMPLETE trial with every epoch."""
    (ask, *_), *_ = read_asks(paths).values()
    return paths.trial(ask.search, ask.trial_id)


def change_columns(path, changes):
    table = pq.ParquetFile(path).read()
    for name, value in changes.items():
        index = table.column_names.index(name)
        field = table.schema.field(index)
        table = table.set_column(index, field, pa.array([value], field.type))
    rewrite_rows(path, table)


@pytest.mark.parametrize(("changes", "told"), ROWS)
def test_a_row_that_breaks_a_rule_is_named(interrupted, tmp_path, changes, told):
    paths = copy_of(interrupted, tmp_path)
    change_columns(first_trial(paths), changes)
    assert re.search(told, problems(paths.folder))


ASKS = {
    "trial_id": ("0123456789abcdef", "has no ask 0 of trial"),
    "config_hash": ("0123456789abcdef", "holds, as ask 0, a config that does not match its hash"),
}


@pytest.mark.parametrize("key", ASKS)
def test_an_ask_that_breaks_a_rule_is_named(interrupted, tmp_path, key):
    value, told = ASKS[key]
    paths = copy_of(interrupted, tmp_path)
    (first, *_), *_ = read_asks(paths).values()
    search = a_file(paths, "journal/*").name
    rewrite(paths, search, lambda it: replace(it, **{key: value}) if it == first else it)
    assert told in problems(paths.folder)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda it: it.update(seed=9), "but its config is trial"),
        (lambda it: it.update(embedding_dims=[16]), "study.json: must plan every search"),
        (lambda it: it["search"].update(trials=3), "must have no more trials than its 3"),
    ],
)
def test_a_study_file_that_is_not_that_of_its_trials_is_named(finished, tmp_path, change, told):
    paths = copy_of(finished, tmp_path)
    change_json(a_file(paths, "runs/*.json"), trials_per_search=3)
    change_study(paths.folder, change)
    assert told in problems(paths.folder)


def test_weights_of_another_trial_and_missing_ones_are_named(finished, tmp_path):
    paths = copy_of(finished, tmp_path)
    first, second = a_file(paths, "models/*"), a_file(paths, "models/*", 1)
    first.write_bytes(second.read_bytes())
    second.unlink()
    found = problems(paths.folder)
    assert f"{first.name}: must be of trial {first.name.split('.')[0]}" in found
    assert f"{second.name}: is of a committed trial" in found
    assert "the study keeps it: it is missing" in found


@pytest.fixture(scope="module")
def with_copies(tmp_path_factory):
    storage = tmp_path_factory.mktemp("copies")
    run_planted(replace(SMALL, keep=TINY.keep), storage)
    paths = StudyPaths(storage / SMALL.name)
    found = verify_store(paths.folder)
    assert found.problems == []
    assert found.checked["copies"] > 0
    return paths


def is_copy(row):
    return row["same_as"] is not None


def is_winner(row):
    return row["stage"] == "final" and row["is_winner"]


def is_default(row):
    return row["stage"] == "final" and row["is_default"]


OTHER = "0123456789abcdef"
# Rows of finals, other values of the first of them, and what is told of it.
FINALS = [
    ("finished", is_winner, {"test_hash": OTHER}, "must have one set of test images"),
    ("finished", is_winner, {"weights": OTHER}, "must start from the same weights"),
    ("finished", is_winner, {"protocol_hash": OTHER}, "trained and validated on the same classes"),
    ("finished", is_winner, {"config_hash": OTHER}, OTHER_TRIAL),
    ("finished", is_winner, {"is_winner": False}, "must be of the default or of the winner"),
    ("finished", is_winner, {"seed": 5}, OTHER_TRIAL),
    ("finished", is_winner, {"fold": 7}, OTHER_TRIAL),
    ("finished", is_winner, {"fold": None}, OTHER_TRIAL),
    ("finished", is_winner, {"train_on": None}, OTHER_TRIAL),
    ("finished", is_winner, {"seed_index": None}, OTHER_TRIAL),
    ("finished", is_winner, {"is_winner": None}, OTHER_TRIAL),
    ("finished", is_winner, {"dataset": "other"}, OTHER_TRIAL),
    ("finished", is_winner, {"block": "other"}, OTHER_TRIAL),
    ("finished", is_default, {"is_default": False}, OTHER_TRIAL),
    ("with_copies", is_copy, {"same_as": OTHER}, OTHER_TRIAL),
]


@pytest.mark.parametrize(("folder", "is_meant", "values", "told"), FINALS)
def test_a_final_that_breaks_a_rule_is_named(request, tmp_path, folder, is_meant, values, told):
    paths = copy_of(request.getfixturevalue(folder), tmp_path)
    for file in sorted(paths.folder.glob("trials/*/*.gathered.parquet")):
        table = pq.ParquetFile(file).read()
        rows = table.to_pylist()
        if meant := [row for row in rows if is_meant(row)]:
            meant[0].update(values)
            rewrite_gathered(file, pa.Table.from_pylist(rows, schema=table.schema))
            break
    assert told.format(**meant[0]) in problems(paths.folder)


def test_failures_that_are_recorded_and_have_rows_yet_are_no_problem(tmp_path):
    run_broken(tmp_path)
    paths = StudyPaths(tmp_path / FRAIL.name)
    record_retries(Journal(paths), Reader(paths.folder), (), lambda line: None)
    assert problems(paths.folder) == ""

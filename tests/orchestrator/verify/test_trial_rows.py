"""Every rule on rows of trials, violated in a file whose checksum is right."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.orchestrator.results.records.journal import read_asks
from tests.orchestrator.damaged_stores import copy_of, problems
from tests.orchestrator.results.store_rows import rewrite

# Other values of a row, and what is told.

ROWS = [
    ({"seed": 5}, "seed must be"),
    ({"config_hash": "0123456789abcdef"}, "config_hash must be"),
    ({"hp.margin": 0.123}, "hp.margin must be"),
    ({"loss": "triplet"}, "loss must be"),
    ({"leaks": True}, "leaks must be False"),
    ({"split_hash": "abc"}, "split_hash must be"),
    ({"protocol_hash": "abc"}, "protocol_hash must be"),
    ({"weights": "abc"}, "the weights of conv_small must be what its trials began with"),
    ({"stage": "other"}, "stage must be search, final or baseline; it is 'other'"),
    ({"state": "DONE"}, "state must be COMPLETE, PRUNED or FAILED; it is 'DONE'"),
    ({"cause": "diverged"}, "FAILED trials, and no others, must have a cause"),
    ({"state": "FAILED", "cause": "bad luck"}, "a cause must be one of collapsed, device"),
    ({"state": "FAILED", "cause": "out_of_host_memory"}, "a cause must be one of collapsed"),
    ({"rung": 7}, "PRUNED trials of a search, and no others, must have a rung"),
    ({"objective": 0.5}, "objective must be .*, by its details; it is 0.5"),
    ({"val_recall_at_2": 0.5}, "val_recall_at_2 must be"),
    ({"test_recall_at_1": 0.5}, "test_recall_at_1 must be None, by its details"),
    ({"epoch_selected": 1}, "epoch_selected must be"),
    ({"epochs_run": 3}, "epochs_run must be"),
    ({"selection_rule": "best"}, "selection_rule must be 'best_val_epoch'"),
    ({"test_readings": 1}, "test_readings must be 0, by its details"),
    ({"attempts": 9}, "its journal must hold its 9 attempts"),
    ({"selected_from": 4}, "selected_from must be set in the final stage, and only there"),
    ({"index": 4}, "index must be 0, by the study; it is 4"),
    ({"is_default": False}, "is_default must be True"),
    ({"seconds": float("inf")}, "seconds must be a finite number"),
    *(({"settings": it}, "settings must be those that the study gives") for it in ("{", None)),
    ({"search": "x"}, "holds a row with search 'x'"),
    ({"trial_id": "x"}, "holds a row with trial_id 'x'"),
    ({"study": "x"}, "holds a row with study 'x'"),
    ({"same_as": "x"}, "it is a copy of trial x, which has no row"),
    ({"block": "a\nNo problems"}, r"whose block is 'a\\nNo problems', which is not a valid name"),
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
    rewrite(path, table)


@pytest.mark.parametrize(("changes", "told"), ROWS)
def test_a_row_that_breaks_a_rule_is_named(interrupted, tmp_path, changes, told):
    paths = copy_of(interrupted, tmp_path)
    change_columns(first_trial(paths), changes)
    assert re.search(told, problems(paths.folder))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"value": 1.5}, "val recall at 1 of epoch 4, fold 0 must be between 0 and 1"),
        ({"value": float("nan")}, "must be a finite number"),
        ({"hits": 3}, "must be 3 / 200; it is"),
        ({"hits": 199, "value": 199 / 200}, "must be the sum of its classes"),
    ],
)
def test_a_score_that_breaks_a_rule_is_named(interrupted, tmp_path, change, told):
    paths = copy_of(interrupted, tmp_path)
    path = first_trial(paths)
    scores = pq.ParquetFile(path).read()["scores"].to_pylist()[0]
    last = {"role": "val", "k": 1, "epoch": 4}
    (score,) = [score for score in scores if last.items() <= score.items()]
    score.update(change)
    change_columns(path, {"scores": scores})
    assert told in problems(paths.folder)

"""Stores of a study that gained a hyperparameter, to be gathered, and what is read of them."""

import polars as pl

from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_rows import WIDE, WIDER, commit, new_store, row

TRIALS = 7


def extended_store(folder):
    """Four trials gathered in the old schema, one loose in it, the rest loose in the new."""
    store = commit(new_store(folder), *(row(index) for index in range(4)))
    gather_all(store)
    commit(store, row(4))
    new_store(folder, WIDE)
    wide = (row(index, WIDER, **{"hp.alpha": 0.5}) for index in range(5, TRIALS))
    return commit(store, *wide, schema=WIDER)


def rows_of(store):
    """Name -> frame, of all trials, their scores and class hits."""
    reader = Reader(store.folder)
    return {
        "trials": reader.trials().collect(),
        "scores": reader.scores().collect(),
        "class_hits": reader.class_hits().collect(),
    }


def plainly(store):
    """What a program reads that knows nothing of podium."""
    rows = pl.scan_parquet(f"{store.folder}/trials/**/*.parquet", missing_columns="insert")
    return rows.unique("trial_id").sort("trial_id").collect()

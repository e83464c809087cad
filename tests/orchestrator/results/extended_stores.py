"""Stores of a study that gained a hyperparameter, to be gathered, and what is read of them."""

import polars as pl

from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_rows import WIDER, commit, new_store, row

TRIALS = 5


def extended_store(folder, rows=TRIALS):
    """Two trials gathered in the old schema, one loose in it, the rest loose in the new."""
    store = commit(new_store(folder), row(0), row(1))
    gather_all(store)
    commit(store, row(2))
    new_store(folder, WIDER)
    wide = (row(index, WIDER, **{"hp.alpha": 0.5}) for index in range(3, rows))
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

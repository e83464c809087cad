"""From rows of a store to runs: what counts as a run, and what it took."""

import polars as pl
import pytest

from analysis.final_cells import final_cells
from analysis.protocol_runs import final_runs, search_runs

FOLDS = 3
TYPES = {"same_as": pl.String, "test_seconds": pl.Float64, "train_on": pl.String}
ASKED = {"metric": "recall", "k": 1}


def trial(trial_id, **columns):
    return {
        "block": "glyphs-latin/conv_small/16",
        "loss": "contrastive",
        "protocol": "kfold",
        "repeat": 0,
        "search": "s",
        "trial_id": trial_id,
        "stage": "final",
        "train_on": "part",
        "index": 0,
        "config_hash": "c0",
        "seed_index": 0,
        "fold": None,
        "num_folds": FOLDS,
        "state": "COMPLETE",
        "is_default": True,
        "is_winner": True,
        "seconds": 10.0,
        "test_seconds": None,
        **columns,
    }


def scores(values, role):
    rows = [
        {
            "trial_id": trial_id,
            "search": "s",
            "fold": fold,
            "epoch": 1,
            "role": role,
            **ASKED,
            "value": value,
        }
        for (trial_id, fold), value in values.items()
    ]
    return pl.LazyFrame(rows)


def folds_that_ended(num_folds):
    """One finalist under three folds, so many of which have ended."""
    trials = [trial(f"f{fold}", fold=fold) for fold in range(num_folds)]
    values = {(f"f{fold}", fold): 0.5 + 0.1 * fold for fold in range(num_folds)}
    return pl.DataFrame(trials, schema_overrides=TYPES), scores(values, "test")


@pytest.mark.parametrize("ended", [1, 2])
def test_a_finalist_whose_folds_have_not_all_ended_has_no_score(ended):
    trials, tests = folds_that_ended(ended)
    found = final_cells(trials, tests, **ASKED)
    assert found.cells.whole["tuned_part"].to_list() == [None]
    assert found.num_missing == 2  # the same trials are winner and default
    assert final_runs(trials, tests, tests, **ASKED, train_on="part").is_empty()


def test_a_finalist_has_the_mean_of_all_its_folds():
    trials, tests = folds_that_ended(FOLDS)
    found = final_cells(trials, tests, **ASKED)
    assert found.cells.whole["tuned_part"].to_list() == [pytest.approx(0.6)]
    assert found.num_missing == 0
    assert len(final_runs(trials, tests, tests, **ASKED, train_on="part")) == FOLDS


def test_the_quarantine_is_no_part_of_what_a_search_took():
    both = {"stage": "search", "train_on": None, "seconds": 12.0, "test_seconds": 3.0}
    trials = pl.DataFrame([trial("t", **both)], schema_overrides=TYPES)
    values = {("t", fold): 0.5 for fold in range(FOLDS)}
    runs = search_runs(trials, scores(values, "val"), scores(values, "test"), **ASKED)
    assert runs["gpu_seconds"].to_list() == [3.0] * FOLDS

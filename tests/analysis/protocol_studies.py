"""Tables of runs for the tests of protocol statistics, typed or simulated from planted truth."""

import numpy as np
import polars as pl

from analysis.scores.protocol_run_checks import checked_runs
from tests.analysis import thesis_cub200

PLACE = {"block": "b", "loss": "l", "protocol": "p"}


def run(config, *, repeat=0, stage="search", seed=0, state="COMPLETE", **columns):
    return {
        **PLACE,
        "stage": stage,
        "repeat": repeat,
        "config": config,
        "index": int(config[1:]) if config[1:].isdigit() else None,
        "seed": seed,
        "fold": None,
        "state": state,
        "val": None,
        "test": None,
        **columns,
    }


def runs_table(rows):
    return checked_runs(pl.DataFrame(rows, infer_schema_length=None))


def final(config, seed, test, **columns):
    return run(config, repeat=None, stage="final", seed=seed, test=test, **columns)


def searched_and_tested(val_C, test_CS):
    """One search, seed 0, without test scores; every config tested by final runs."""
    configs = [f"c{c}" for c in range(len(val_C))]
    rows = [run(config, val=val) for config, val in zip(configs, val_C, strict=True)]
    rows += [
        final(config, 100 + s, test)
        for config, tests in zip(configs, test_CS, strict=True)
        for s, test in enumerate(tests)
    ]
    return runs_table(rows)


def shared_configs(val_QC, test_QC):
    """The same configs in every repeat of a search, each run tested in quarantine."""
    repeats, configs = np.shape(val_QC)
    return runs_table(
        run(f"c{c}", repeat=q, seed=q, val=val_QC[q][c], test=test_QC[q][c])
        for q in range(repeats)
        for c in range(configs)
    )


def thesis_split_ratios():
    """Table 14 of the thesis: one run for each split ratio, the thing to be chosen."""
    ratios = pl.read_csv(thesis_cub200.DATA / "thesis_protocols.csv").filter(
        pl.col("experiment") == "split_ratio"
    )
    return runs_table(
        run(row["setting"], val=row["best_val_recall_at_1"], test=row["test_recall_at_1"])
        for row in ratios.to_dicts()
    )


def thesis_folds():
    """Table 13 of the thesis: ten folds of one config."""
    folds = pl.read_csv(thesis_cub200.DATA / "thesis_cross_validation.csv")
    return runs_table(
        run(
            "default",
            fold=row["fold"],
            val=row["best_val_recall_at_1"],
            test=row["test_recall_at_1"],
        )
        for row in folds.to_dicts()
    )

"""Tables of runs for the tests of protocol statistics."""

import numpy as np
import polars as pl

from podium.analysis.scores.protocol_run_checks import checked

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
    return checked(pl.DataFrame(rows, infer_schema_length=None), "runs")


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

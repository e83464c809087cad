"""The runs behind the cells of a tournament."""

import numpy as np
import polars as pl

from podium.analysis.tournament.block_runs import run_scores
from podium.analysis.tournament.tournament import hold_tournament
from podium.analysis.typed_tables.score_table import ScoreTable

QUERIES = 50.0


def table_of(rows, *, columns=("seed",), with_hits=True):
    frame = pl.DataFrame(rows)
    score = (
        frame.with_columns(recall=pl.col("hits") / QUERIES, queries=pl.lit(int(QUERIES)))
        if with_hits
        else frame.with_columns(recall=pl.col("hits") / QUERIES).drop("hits")
    )
    return ScoreTable(
        cells=score.group_by("block", "loss").agg(pl.col("recall").mean().round_sig_figs(12)),
        runs=score,
        run_columns=columns,
        by=("block",),
        competitor="loss",
        score="recall",
        warnings=(),
    )


def run_rows_of(hits_BUC):
    return [
        {"block": f"p{b}", "seed": u, "loss": "abc"[c], "hits": int(hits)}
        for (b, u, c), hits in np.ndenumerate(np.asarray(hits_BUC))
        if hits >= 0
    ]


def runs_of(table):
    held = hold_tournament(table.cells, by=table.by, competitor="loss", score="recall")
    found = run_scores(table, held.blocks, held.names, scale=QUERIES)
    return None if found is None else found[0]


def test_runs_stand_in_the_order_of_the_tournament():
    first, second = runs_of(
        table_of(run_rows_of([[[1, 20, 30], [2, 25, 31]], [[5, 10, 40], [6, 11, -1]]]))
    )
    assert first.tolist() == [[30, 20, 1], [31, 25, 2]]
    assert np.array_equal(second, [[40, 10, 5], [np.nan, 11, 6]], equal_nan=True)


def test_shuffled_rows_give_equal_numbers():
    hits = np.random.default_rng(0).integers(0, 50, size=(6, 3, 3))
    for with_hits in (True, False):
        rows = pl.DataFrame(run_rows_of(hits)).sample(fraction=1, shuffle=True, seed=1)
        one = runs_of(table_of(run_rows_of(hits), with_hits=with_hits))
        other = runs_of(table_of(rows.to_dicts(), with_hits=with_hits))
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_single_runs_are_none():
    table = table_of(run_rows_of(np.random.default_rng(0).integers(0, 50, size=(6, 1, 3))))
    assert runs_of(table) is None


def test_the_outermost_level_with_several_values_is_the_run():
    rows = [
        {"block": "p", "repeat": r, "seed": s, "loss": loss, "hits": 10 * r + s + (loss == "a")}
        for r in range(2)
        for s in range(3)
        for loss in "ab"
    ]
    (block,) = runs_of(table_of(rows, columns=("repeat", "seed")))
    assert block.tolist() == [[2, 1], [12, 11]]

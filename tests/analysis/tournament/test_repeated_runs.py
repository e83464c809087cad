"""The order on exactly these blocks, were the runs repeated: runs are what tests count."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.hypothesis_tests.sign_flip_test import sign_flip_test
from podium.analysis.tournament.table_tournament import hold_by_rules
from podium.analysis.tournament.verdict_text import headline, verdict_sentences
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.orchestrator.results.records.tournament_rules import TournamentRules

HERE = TournamentRules(question="these_blocks")
PAIRS = ((0, 1), (0, 2), (1, 2))


def table_of(scores_BUC, *, drop=()):
    """Blocks of one data set with runs ``seed``; ``drop``: (block, seed, loss) that lack."""
    rows = [
        {"dataset": "d", "dim": b, "seed": u, "loss": "abcdefgh"[c], "score": float(score)}
        for b, scores_UC in enumerate(scores_BUC)
        for u, scores_C in enumerate(scores_UC)
        for c, score in enumerate(scores_C)
        if (b, u, "abcdefgh"[c]) not in drop
    ]
    runs = pl.DataFrame(rows)
    cell = ["dataset", "dim", "loss"]
    return ScoreTable(
        cells=runs.group_by(cell).agg(pl.col("score").mean()).sort(cell),
        runs=runs,
        run_columns=("seed",),
        by=("dataset", "dim"),
        competitor="loss",
        score="score",
        warnings=(),
    )


def scores(blocks=2, runs=4, losses=3, gain=0.0, seed=0):
    """Blocks of unlike difficulty; the first loss is better by ``gain``."""
    generator = np.random.default_rng(seed)
    found = 60 + 10 * generator.normal(size=(blocks, 1, 1))
    found = found + generator.normal(size=(blocks, runs, losses))
    found[:, :, 0] += gain
    return found


def test_blocks_of_one_data_set_say_nothing_elsewhere_but_their_runs_do_here():
    table = table_of(scores(gain=5.0))
    assert not hold_by_rules(table, TournamentRules()).is_tested
    here = hold_by_rules(table, HERE)
    assert (here.is_tested, here.units.counted) == (True, "8 seeds")
    said = headline(here, metric="recall")
    assert "a is significantly better than b (p = 0.008) and c (p = 0.008)." in said.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    question, limits, *_ = verdict_sentences(here)
    assert question.startswith("Would the order hold in these settings, with other seeds?")
    assert "The test counts 8 seeds of 2 settings:" in question
    assert limits.startswith("Nothing is said of other data sets")


def test_the_test_is_that_of_all_runs_of_all_blocks():
    found = scores(blocks=2, runs=3, gain=1.0)
    held = hold_by_rules(table_of(found), HERE)
    order = ["abc".index(name) for name in held.names]
    runs = found.reshape(6, 3)[:, order]
    p, _, _ = sign_flip_test(np.stack([runs[:, i] - runs[:, j] for i, j in PAIRS], axis=1))
    assert [pair.p for pair in held.pairs] == pytest.approx(p.tolist())


def test_runs_that_one_competitor_lacks_are_not_counted():
    held = hold_by_rules(table_of(scores(), drop={(0, 1, "b"), (1, 3, "a")}), HERE)
    assert held.units.number == 6


@pytest.mark.parametrize("drop", [{(1, u, "b") for u in (1, 2, 3)}, None])
def test_single_runs_of_a_block_support_no_test_and_it_says_why(drop):
    table = table_of(scores(runs=1)) if drop is None else table_of(scores(), drop=drop)
    held = hold_by_rules(table, HERE)
    assert held.pairs[0].p is None
    assert "s, at least 2 of each setting; all competitors" in headline(held, metric="recall")

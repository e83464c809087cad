"""The order on exactly these blocks, were the runs repeated: runs are what tests count."""

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.nemenyi import nemenyi_p_value
from podium.analysis.report.verdict import headline
from podium.analysis.tournament.medals import medals
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.repeated_runs import RepeatedRuns, shared_runs
from podium.analysis.tournament.table_tournament import hold_by_rules
from podium.analysis.tournament.verdict_text import verdict_sentences
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.orchestrator.results.records.tournament_rules import TournamentRules

HERE = TournamentRules(question="these_blocks")


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
    elsewhere, runs = hold_by_rules(table, TournamentRules())
    here, _ = hold_by_rules(table, HERE)

    assert elsewhere.is_descriptive
    assert not here.is_descriptive
    assert here.units.counted == "8 runs of 2 blocks"
    first, *_ = medals(here, rank_stability(here, runs))
    assert (first.competitor, first.is_supported, first.num_left_out) == ("a", True, 0)


def test_the_sign_flips_are_those_of_all_runs_of_all_blocks():
    found = scores(blocks=2, runs=3, gain=1.0)
    rules = TournamentRules(question="these_blocks", test="permutation_holm")
    held, _ = hold_by_rules(table_of(found), rules)

    raw = {}
    for a, b in combinations(range(3), 2):
        gaps = np.concatenate([block[:, a] - block[:, b] for block in found])
        sums = [abs(np.dot(signs, gaps)) for signs in product((-1, 1), repeat=len(gaps))]
        raw["abc"[a] + "abc"[b]] = np.mean([one >= abs(gaps.sum()) - 1e-9 for one in sums])
    step = sorted(raw, key=raw.get)
    holm, largest = {}, 0.0
    for position, pair in enumerate(step):
        largest = max(largest, min(1.0, (3 - position) * raw[pair]))
        holm[pair] = largest
    assert {"".join(sorted(pair.a + pair.b)): pair.p for pair in held.pairs} == pytest.approx(holm)


def test_nemenyi_compares_average_ranks_of_runs():
    found = scores(blocks=3, runs=4, gain=1.0)
    held, _ = hold_by_rules(table_of(found), HERE)
    order = ["abc".index(name) for name in held.names]

    ranks = average_ranks(found.reshape(12, 3)[:, order]).mean(axis=0)
    assert list(held.nemenyi_ranks.values()) == pytest.approx(ranks.tolist())
    for pair in held.pairs:
        gap = held.nemenyi_ranks[pair.a] - held.nemenyi_ranks[pair.b]
        assert pair.p_nemenyi == pytest.approx(nemenyi_p_value(gap, 3, 12))


def test_runs_that_one_competitor_lacks_are_not_counted():
    held, _ = hold_by_rules(table_of(scores(), drop={(0, 1, "b"), (1, 3, "a")}), HERE)

    assert held.units == RepeatedRuns(runs_of_blocks=(3, 3))
    unshared = shared_runs([np.array([[1.0, np.nan], [2.0, 3.0]])])
    assert [block.tolist() for block in unshared] == [[[2.0, 3.0]]]


@pytest.mark.parametrize("drop", [{(1, u, "b") for u in (1, 2, 3)}, None])
def test_single_runs_of_a_block_support_no_test_and_it_says_why(drop):
    table = table_of(scores(runs=1)) if drop is None else table_of(scores(), drop=drop)
    held, runs = hold_by_rules(table, HERE)
    stability = rank_stability(held, runs)

    assert held.is_descriptive
    assert held.smallest_p is None
    assert held.pairs[0].p is None
    text = " ".join(verdict_sentences(held, stability))
    assert "needs 2 runs of each block that all competitors share; one has 1" in text
    assert "Everything here is descriptive." in text


def test_only_runs_are_resampled_and_no_block_is_left_out():
    held, runs = hold_by_rules(table_of(scores(blocks=6)), HERE)
    stability = rank_stability(held, runs)

    assert stability.resampled == "the runs of the same blocks"
    assert stability.leave_one_out == ()
    assert not stability.bootstrap.is_sensitivity


def test_what_is_asked_is_said_first():
    held, runs = hold_by_rules(table_of(scores(gain=5.0)), HERE)

    leads = headline(held, rank_stability(held, runs), metric="recall")
    assert leads.startswith("On these blocks alone, a is first of 3 over 2 blocks")
    question, *_ = verdict_sentences(held, rank_stability(held, runs))
    assert question.startswith("Would the order hold on these blocks, were the runs repeated?")
    assert "8 runs of 2 blocks" in question
    assert "Nothing is said of other data sets" in question

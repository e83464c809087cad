"""Runs drawn anew within blocks, against every resample there is and against planted truth."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.tournament.block_runs import BlockRuns, block_runs, drawn_ranks
from podium.analysis.tournament.rank_bootstrap import bootstrap_ranks
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.tournament import hold_tournament
from podium.analysis.typed_tables.score_table import ScoreTable
from tests.analysis.tournament.small_tournaments import alone, groups_of

QUERIES = 50.0


def exact(hits):
    """Runs of one block; a negative number of hits marks a missing run."""
    hits_UC = np.asarray(hits, dtype=float)
    return BlockRuns(
        sums_UC=np.maximum(hits_UC, 0),
        weights_UC=np.where(hits_UC < 0, 0.0, QUERIES),
        is_exact=True,
    )


def cell_ranks(runs):
    return average_ranks((runs.sums_UC.sum(axis=0) / runs.weights_UC.sum(axis=0))[np.newaxis])[0]


def rank_rows(runs, *, size=None):
    """Ranks of a block under each equally likely draw of its runs."""
    num_competitors = runs.sums_UC.shape[1]
    present = [np.flatnonzero(runs.weights_UC[:, c] > 0) for c in range(num_competitors)]
    if runs.is_paired:
        draws = [
            [drawn] * num_competitors
            for drawn in product(present[0], repeat=size or len(present[0]))
        ]
    else:
        draws = product(*(list(product(own, repeat=size or len(own))) for own in present))
    found = []
    for drawn in draws:
        cells = [
            runs.sums_UC[list(own), c].sum() / runs.weights_UC[list(own), c].sum()
            for c, own in enumerate(drawn)
        ]
        found.append(average_ranks(np.array([cells]))[0])
    return found


def every_resample(runs, labels):
    """Mean ranks of all resamples of groups, their blocks, and the runs of these."""
    names = sorted(set(labels))
    members = {name: [b for b, label in enumerate(labels) if label == name] for name in names}
    rows = [rank_rows(block) for block in runs]
    for drawn in product(names, repeat=len(names)):
        inner = [product(members[name], repeat=len(members[name])) for name in drawn]
        for chosen in product(*inner):
            blocks = [b for group in chosen for b in group]
            weight = 1 / np.prod([float(len(members[n]) ** len(members[n])) for n in drawn])
            weight /= np.prod([float(len(rows[b])) for b in blocks])
            for ranks in product(*(rows[b] for b in blocks)):
                yield weight, np.mean(ranks, axis=0)


def expected_ahead(runs, labels):
    """Chances to be first, ties shared, and to be ahead of each other one, ties half."""
    weights, averages = zip(*every_resample(runs, labels), strict=True)
    weights_R, averages_RC = np.array(weights) / sum(weights), np.array(averages).round(12)
    is_best_RC = averages_RC == averages_RC.min(axis=1, keepdims=True)
    first_C = weights_R @ (is_best_RC / is_best_RC.sum(axis=1, keepdims=True))
    a_RC1, b_R1C = averages_RC[:, :, np.newaxis], averages_RC[:, np.newaxis, :]
    return first_C, np.tensordot(weights_R, (a_RC1 < b_R1C) + 0.5 * (a_RC1 == b_R1C), axes=1)


CASES = {
    "paired": ([[[9, 8, 3], [5, 8, 6]], [[7, 7, 9], [9, 4, 4]]], ["x", "y"]),
    "a run missing": ([[[9, 8, 3], [5, -1, 6]], [[7, 7, 9], [9, 4, 4]]], ["x", "y"]),
    "groups": ([[[9, 8], [5, 6]], [[7, 8], [9, 4]], [[3, 6], [8, 5]]], ["x", "x", "y"]),
    "one run in a block": ([[[9, 8, 3]], [[7, 7, 9], [9, 4, 4]]], ["x", "y"]),
}


@pytest.mark.parametrize(("hits", "labels"), CASES.values(), ids=CASES)
def test_hierarchical_resampling_agrees_with_enumerating_every_resample(hits, labels):
    runs = [exact(block) for block in hits]
    ranks_BC = np.stack([cell_ranks(block) for block in runs])
    names = list("abc")[: ranks_BC.shape[1]]
    result = bootstrap_ranks(names, ranks_BC, groups_of(labels), runs=runs, replicates=40_000)
    first_C, ahead_CC = expected_ahead(runs, labels)
    # 40,000 replicates: standard errors below 0.0025; five of them.
    assert [c.p_first for c in result.competitors] == pytest.approx(first_C, abs=0.0125)
    others = ~np.eye(len(names), dtype=bool)
    assert result.ahead_CC[others] == pytest.approx(ahead_CC[others], abs=0.0125)


@pytest.mark.parametrize(
    ("hits", "fewer"),
    [
        ([[9, 8, 3], [5, 8, 6], [7, 7, 9]], 0),
        ([[9, 8, 3], [5, 8, 6], [7, 7, 9]], 1),
        ([[9, 8], [5, -1], [6, 7]], 0),
    ],
)
def test_drawn_ranks_have_the_frequencies_of_all_draws(hits, fewer):
    """Where nothing but runs is drawn, U - 1 of U are drawn."""
    runs = exact(hits)
    drawn = drawn_ranks(runs, 40_000, np.random.default_rng(0), is_outermost=bool(fewer))
    size = len(hits) - fewer if runs.is_paired else None
    assert drawn.mean(axis=0) == pytest.approx(
        np.mean(rank_rows(runs, size=size), axis=0), abs=0.02
    )


def test_equal_hits_tie_in_every_draw():
    found = drawn_ranks(exact([[3, 3], [7, 7], [1, 1]]), 200, np.random.default_rng(0))
    assert (found == 1.5).all()


def test_equal_means_of_floats_tie_in_every_draw():
    scores = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])  # 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    runs = BlockRuns(sums_UC=scores, weights_UC=np.ones_like(scores), is_exact=False)
    found = drawn_ranks(runs, 2_000, np.random.default_rng(0))
    once_each = found[(found == 1.5).all(axis=1)]
    assert len(once_each) / 2_000 == pytest.approx(7 / 27, abs=0.05)


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


def tournament_of_cells(table):
    return hold_tournament(table.cells, by=table.by, competitor="loss", score="recall")


def test_runs_stand_in_the_order_of_the_tournament():
    table = table_of(run_rows_of([[[1, 20, 30], [2, 25, 31]], [[5, 10, 40], [6, 11, -1]]]))
    first, second = block_runs(table, tournament_of_cells(table))
    assert tournament_of_cells(table).names == ("c", "b", "a")
    assert first.sums_UC.tolist() == [[30, 20, 1], [31, 25, 2]]
    assert second.sums_UC.tolist() == [[40, 10, 5], [0, 11, 6]]
    assert second.weights_UC.tolist() == [[50, 50, 50], [0, 50, 50]]
    assert (first.is_paired, second.is_paired, first.is_exact) == (True, False, True)


def test_shuffled_rows_give_equal_numbers():
    generator = np.random.default_rng(0)
    hits = generator.integers(0, 50, size=(6, 3, 3))
    for with_hits in (True, False):
        table = table_of(run_rows_of(hits), with_hits=with_hits)
        again = table_of(
            pl.DataFrame(run_rows_of(hits)).sample(fraction=1, shuffle=True, seed=1).to_dicts(),
            with_hits=with_hits,
        )
        one, other = (
            rank_stability(tournament_of_cells(t), block_runs(t, tournament_of_cells(t)))
            for t in (table, again)
        )
        assert one.bootstrap.competitors == other.bootstrap.competitors


def test_single_runs_leave_the_block_bootstrap_as_it_is():
    table = table_of(run_rows_of(np.random.default_rng(0).integers(0, 50, size=(6, 1, 3))))
    assert block_runs(table, tournament_of_cells(table)) is None
    assert not rank_stability(tournament_of_cells(table), None).bootstrap.draws_runs


def test_the_outermost_level_with_several_values_is_drawn_with_all_within_it():
    rows = [
        {"block": "p", "repeat": r, "seed": s, "loss": loss, "hits": 10 * r + s + (loss == "a")}
        for r in range(2)
        for s in range(3)
        for loss in "ab"
    ]
    table = table_of(rows, columns=("repeat", "seed"))
    (block,) = block_runs(table, tournament_of_cells(table))
    assert block.sums_UC.tolist() == [[6, 3], [36, 33]]
    assert block.weights_UC.tolist() == [[150, 150], [150, 150]]


def test_a_single_block_is_resampled_by_its_runs_alone():
    table = table_of(run_rows_of([[[30, 20, 10], [20, 30, 10], [40, 30, 12]]]))
    stability = rank_stability(
        tournament_of_cells(table), block_runs(table, tournament_of_cells(table))
    )
    assert stability.resampled == "the runs of the one block"
    assert not stability.bootstrap.is_sensitivity  # of other runs, of which there are three
    assert stability.leave_one_out == ()
    by_name = {c.competitor: c for c in stability.bootstrap.competitors}
    # a leads b in runs 1 and 3, b in run 2: of the 9 draws of two runs, 1 leaves b alone ahead,
    # and 2 + 2 mix run 2 with another: 50:50 ties with run 1, 60:60 with run 3.
    assert by_name["a"].p_first == pytest.approx((4 + 0.5 * 4) / 9, abs=0.02)
    assert by_name["c"].p_first == 0


def simulate(generator, *, blocks, seeds, block_sd, seed_sd, means):
    cells = means + block_sd * generator.normal(size=(blocks, 1, len(means)))
    return cells + seed_sd * generator.normal(size=(blocks, seeds, len(means)))


@pytest.mark.parametrize(("blocks", "seed_sd"), [(5, 1.0), (10, 1.0), (24, 0.3)])
def test_intervals_hold_the_expected_rank_about_as_often_as_they_say(blocks, seed_sd):
    """New blocks and new seeds each time; the truth is the mean rank over 100,000 blocks."""
    means, seeds, rounds = np.array([1.0, 0.7, 0.3, 0.0]), 3, 60
    generator = np.random.default_rng(0)
    many = simulate(
        generator, blocks=100_000, seeds=seeds, block_sd=0.5, seed_sd=seed_sd, means=means
    )
    truth_C = average_ranks(many.mean(axis=1)).mean(axis=0)
    held_times = 0.0
    for round_ in range(rounds):
        scores_BUC = simulate(
            generator, blocks=blocks, seeds=seeds, block_sd=0.5, seed_sd=seed_sd, means=means
        )
        runs = [
            BlockRuns(sums_UC=block, weights_UC=np.ones_like(block), is_exact=False)
            for block in scores_BUC
        ]
        result = bootstrap_ranks(
            list("abcd"),
            average_ranks(scores_BUC.mean(axis=1)),
            alone(blocks),
            runs=runs,
            replicates=10,
            seed=round_,
        )
        held_times += np.mean(
            [c.low <= t <= c.high for c, t in zip(result.competitors, truth_C, strict=True)]
        )
    assert held_times / rounds >= 0.92

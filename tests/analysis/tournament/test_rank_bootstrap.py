from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.tournament.block_runs import BlockRuns
from podium.analysis.tournament.rank_bootstrap import bootstrap_ranks, leave_one_out_podiums
from tests.analysis import thesis_cub200
from tests.analysis.estimates.slow_grouped_share import slow_interval
from tests.analysis.tournament.small_tournaments import alone, groups_of


def enumerate_places(ranks, most_place):
    """P(place <= most_place) over all resamples of blocks, ties broken at random."""
    num_blocks = len(ranks)
    chances = []
    for drawn in product(range(num_blocks), repeat=num_blocks):
        totals = ranks[list(drawn)].sum(axis=0)
        better = np.array([(totals < total).sum() for total in totals])
        tied = np.array([(totals == total).sum() for total in totals])
        chances.append(np.clip((most_place - better) / tied, 0, 1))
    return np.mean(chances, axis=0)


def slow_group_bootstrap(ranks, labels, replicates, seed):
    """P(first), ties shared: groups, then blocks of each drawn group, one at a time."""
    generator = np.random.default_rng(seed)
    names = sorted(set(labels))
    firsts = []
    for _ in range(replicates):
        rows = []
        for name in generator.choice(names, size=len(names)):
            members = [b for b, label in enumerate(labels) if label == name]
            rows.extend(ranks[generator.choice(members, size=len(members))])
        average = np.mean(rows, axis=0).round(9)
        is_first = average == average.min()
        firsts.append(is_first / is_first.sum())
    return np.mean(firsts, axis=0)


def runs_of(scores_BUC):
    return [
        BlockRuns(sums_UC=scores, weights_UC=np.ones_like(scores), is_exact=False)
        for scores in np.asarray(scores_BUC, dtype=float)
    ]


def ranks_of(scores_BUC):
    return average_ranks(np.mean(scores_BUC, axis=1))


def test_probabilities_agree_with_enumerating_all_resamples():
    ranks = average_ranks(np.array([[3.0, 2, 1], [1, 3, 2], [3, 1, 1], [2, 3, 1]]))
    result = bootstrap_ranks(["a", "b", "c"], ranks, alone(4), replicates=20_000)
    first, second = enumerate_places(ranks, 1), enumerate_places(ranks, 2)
    # 20,000 replicates: standard errors below 0.0036; five of them.
    assert [c.p_first for c in result.competitors] == pytest.approx(first, abs=0.018)
    assert result.place_probability_CC[:, 1] == pytest.approx(second - first, abs=0.02)


def test_groups_are_drawn_first_then_their_blocks():
    ranks = average_ranks(np.random.default_rng(0).normal(size=(7, 4)))
    labels = ["x", "x", "y", "z", "z", "z", "z"]
    slow = slow_group_bootstrap(ranks, labels, replicates=4_000, seed=1)
    fast = bootstrap_ranks(list("abcd"), ranks, groups_of(labels), replicates=20_000)
    # Standard errors below .0087 together; four of them.
    assert [c.p_first for c in fast.competitors] == pytest.approx(slow, abs=0.035)


def test_the_bronze_medal_of_the_thesis_is_noise_even_if_its_blocks_were_independent():
    tournament = thesis_cub200.independent()
    found = bootstrap_ranks(tournament.names, tournament.ranks_BC, tournament.block_groups)
    by_name = {c.competitor: c for c in found.competitors}
    assert by_name["ProxyAnchor"].p_first == 1
    # .45, .33 and .18 where a tied third place counts for none; here it is shared.
    assert by_name["MultiSimilarity"].p_top_three == pytest.approx(0.47, abs=0.02)
    assert by_name["Contrastive"].p_top_three == pytest.approx(0.35, abs=0.02)
    assert by_name["LiftedStructure"].p_top_three == pytest.approx(0.20, abs=0.02)
    assert by_name["MultiSimilarity"].high > by_name["Contrastive"].low


def test_leaving_out_one_block_moves_the_bronze_medal():
    tournament = thesis_cub200.independent()
    podiums = leave_one_out_podiums(tournament.names, tournament.ranks_BC, tournament.block_groups)
    assert [p.left_out for p in podiums] == list(tournament.block_labels)
    third = Counter(name for p in podiums for place, name in p.podium if place == 3)
    assert third == {"MultiSimilarity": 5, "Contrastive": 5, "LiftedStructure": 2}
    assert {p.podium[0] for p in podiums} == {(1, "ProxyAnchor")}


def test_each_backbone_left_out_gives_the_bronze_medal_to_another():
    tournament = thesis_cub200.tournament()
    podiums = leave_one_out_podiums(tournament.names, tournament.ranks_BC, tournament.block_groups)
    assert [p.left_out for p in podiums] == [
        "CUB200-2011/BNInception",
        "CUB200-2011/GoogLeNet",
        "CUB200-2011/ResNet50",
    ]
    third = Counter(name for p in podiums for place, name in p.podium if place == 3)
    assert third == {"MultiSimilarity": 1, "Contrastive": 1, "LiftedStructure": 1}


def test_equal_seeds_give_equal_numbers_and_others_do_not():
    tournament = thesis_cub200.tournament()

    def chances(seed):
        return bootstrap_ranks(
            tournament.names,
            tournament.ranks_BC,
            tournament.block_groups,
            replicates=50,
            seed=seed,
        ).place_probability_CC.tolist()

    assert chances(3) == chances(3)
    assert chances(3) != chances(4)


@pytest.mark.parametrize("labels", ["pqrstu", "vvvwwxxxxyyz"])
def test_intervals_are_those_of_shares_of_the_worst_rank(labels):
    ranks = average_ranks(np.random.default_rng(2).normal(size=(len(labels), 4)))
    groups = groups_of(labels)
    result = bootstrap_ranks(list("abcd"), ranks, groups, replicates=10)
    for column, found in zip(ranks.T, result.competitors, strict=True):
        low, high = slow_interval((column - 1) / 3, groups.members)
        assert (found.low, found.high) == pytest.approx((1 + 3 * low, 1 + 3 * high))
    assert not result.is_sensitivity


@pytest.mark.parametrize("num_groups", [2, 3, 4])
def test_fewer_than_five_groups_have_no_interval_however_many_their_blocks(num_groups):
    ranks = average_ranks(np.random.default_rng(3).normal(size=(4 * num_groups, 3)))
    for groups in (groups_of(np.repeat(list("wxyz")[:num_groups], 4)), None):
        blocks = groups or alone(num_groups)
        result = bootstrap_ranks(list("abc"), ranks[: len(blocks.labels)], blocks, replicates=50)
        assert (result.num_groups, result.is_sensitivity) == (num_groups, True)
        assert {(c.low, c.high) for c in result.competitors} == {(None, None)}


def every_draw(scores_BUC):
    """Average ranks over the same blocks for all draws of one run less than there are."""
    rows = []
    for runs_UC in scores_BUC:
        drawn = product(range(len(runs_UC)), repeat=len(runs_UC) - 1)
        rows.append([ranks_of(np.array([runs_UC[list(draw)]]))[0] for draw in drawn])
    return np.array([np.mean(chosen, axis=0) for chosen in product(*rows)])


@pytest.mark.parametrize("num_blocks", [1, 2])
def test_a_single_group_keeps_its_blocks_and_draws_their_runs(num_blocks):
    scores = np.random.default_rng(4).normal(size=(num_blocks, 3, 3)).round(1)
    result = bootstrap_ranks(
        list("abc"),
        ranks_of(scores),
        groups_of(["x"] * num_blocks),
        runs=runs_of(scores),
        replicates=20_000,
    )
    averages = every_draw(scores).round(9)
    is_first = averages == averages.min(axis=1, keepdims=True)
    expected = (is_first / is_first.sum(axis=1, keepdims=True)).mean(axis=0)
    assert [c.p_first for c in result.competitors] == pytest.approx(expected, abs=0.018)
    for column, found in zip(averages.T, result.competitors, strict=True):
        assert (column < found.low - 1e-9).mean() <= 0.03
        assert (column > found.high + 1e-9).mean() <= 0.03


def test_two_runs_of_a_single_group_have_no_interval():
    scores = np.random.default_rng(5).normal(size=(4, 2, 3))
    found = bootstrap_ranks(
        list("abc"), ranks_of(scores), groups_of("xxxx"), runs=runs_of(scores), replicates=50
    )
    assert {(c.low, c.high) for c in found.competitors} == {(None, None)}
    assert found.is_sensitivity


@st.composite
def designs(draw):
    """Rounded scores of runs, with ties, in groups of blocks: few and many of each."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=8))
    num_runs, num_losses = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    scores = generator.integers(0, 3, size=(sum(sizes), num_runs, num_losses)) / 10
    return scores, [f"g{g}" for g, size in enumerate(sizes) for _ in range(size)]


@settings(max_examples=60, deadline=None)
@given(designs())
def test_an_interval_never_excludes_its_own_average_rank(design):
    scores, labels = design
    result = bootstrap_ranks(
        list("abcd")[: scores.shape[2]],
        ranks_of(scores),
        groups_of(labels),
        runs=runs_of(scores),
        replicates=40,
    )
    is_enough = len(set(labels)) >= 5 or (len(set(labels)) == 1 and scores.shape[1] >= 3)
    assert result.is_sensitivity != is_enough
    for found in result.competitors:
        assert (found.low is not None) == is_enough
        if is_enough:
            assert 1 <= found.low <= found.average_rank <= found.high <= scores.shape[2]


@pytest.mark.parametrize("icc", [0.0, 0.8])
def test_intervals_hold_the_average_rank_over_other_groups(icc):
    """Of equal losses it is the middle one."""
    generator, rounds, labels = np.random.default_rng(6), 80, np.repeat(list("uvwxyz"), 4)
    held_times = 0.0
    for _ in range(rounds):
        shared = np.repeat(generator.normal(size=(6, 4)), 4, axis=0)
        own = generator.normal(size=(24, 4))
        ranks = average_ranks(np.sqrt(icc) * shared + np.sqrt(1 - icc) * own)
        found = bootstrap_ranks(list("abcd"), ranks, groups_of(labels), replicates=2)
        held_times += np.mean([c.low <= 2.5 <= c.high for c in found.competitors])
    assert held_times / rounds >= 0.92

from collections import Counter
from itertools import product

import numpy as np
import pytest

from analysis.estimates.ranks import average_ranks
from analysis.tournament.rank_bootstrap import bootstrap_ranks, leave_one_out_podiums
from tests.analysis import thesis_cub200


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


def slow_cluster_bootstrap(ranks, clusters, replicates, seed):
    """Draw clusters, then blocks of each drawn cluster, one at a time."""
    generator = np.random.default_rng(seed)
    names = sorted(set(clusters))
    averages = []
    for _ in range(replicates):
        rows = []
        for name in generator.choice(names, size=len(names)):
            members = [b for b, cluster in enumerate(clusters) if cluster == name]
            rows.extend(ranks[generator.choice(members, size=len(members))])
        averages.append(np.mean(rows, axis=0))
    return np.array(averages)


def test_probabilities_agree_with_enumerating_all_resamples():
    ranks = average_ranks(np.array([[3.0, 2, 1], [1, 3, 2], [3, 1, 1], [2, 3, 1]]))
    result = bootstrap_ranks(["a", "b", "c"], ranks, replicates=20_000)
    first, second = enumerate_places(ranks, 1), enumerate_places(ranks, 2)
    # 20,000 replicates: standard errors below 0.0036; five of them.
    assert [c.p_first for c in result.competitors] == pytest.approx(first, abs=0.018)
    assert result.place_probability_CC[:, 1] == pytest.approx(second - first, abs=0.02)


def test_clusters_are_drawn_first_then_their_blocks():
    ranks = average_ranks(np.random.default_rng(0).normal(size=(7, 4)))
    clusters = ["x", "x", "y", "z", "z", "z", "z"]
    slow = slow_cluster_bootstrap(ranks, clusters, replicates=4_000, seed=1)
    fast = bootstrap_ranks(list("abcd"), ranks, clusters=clusters, replicates=20_000)
    low, high = np.percentile(slow, [2.5, 97.5], axis=0)
    assert [c.low for c in fast.competitors] == pytest.approx(low, abs=0.12)
    assert [c.high for c in fast.competitors] == pytest.approx(high, abs=0.12)


def test_places_are_shared_out_completely():
    tournament = thesis_cub200.tournament()
    result = bootstrap_ranks(tournament.names, tournament.ranks_BC)
    assert sum(c.p_first for c in result.competitors) == pytest.approx(1)
    assert sum(c.p_top_three for c in result.competitors) == pytest.approx(3)
    assert result.place_probability_CC.sum(axis=0) == pytest.approx(np.ones(10))
    assert result.place_probability_CC.sum(axis=1) == pytest.approx(np.ones(10))


def test_the_bronze_medal_of_the_thesis_is_noise():
    tournament = thesis_cub200.tournament()
    by_name = {
        c.competitor: c for c in bootstrap_ranks(tournament.names, tournament.ranks_BC).competitors
    }
    assert by_name["ProxyAnchor"].p_first == 1
    # .45, .33 and .18 where a tied third place counts for none; here it is shared.
    assert by_name["MultiSimilarity"].p_top_three == pytest.approx(0.47, abs=0.02)
    assert by_name["Contrastive"].p_top_three == pytest.approx(0.35, abs=0.02)
    assert by_name["LiftedStructure"].p_top_three == pytest.approx(0.20, abs=0.02)
    assert by_name["MultiSimilarity"].high > by_name["Contrastive"].low


def test_a_tied_third_place_that_counts_for_none_gives_the_published_probabilities():
    tournament = thesis_cub200.tournament()
    drawn = np.random.default_rng(1).integers(12, size=(20_000, 12))
    totals = tournament.ranks_BC[drawn].sum(axis=1)
    is_third = (totals[:, :, np.newaxis] >= totals[:, np.newaxis, :]).sum(axis=2) <= 3
    strict = dict(zip(tournament.names, is_third.mean(axis=0), strict=True))
    assert strict["MultiSimilarity"] == pytest.approx(0.45, abs=0.015)
    assert strict["Contrastive"] == pytest.approx(0.33, abs=0.015)
    assert strict["LiftedStructure"] == pytest.approx(0.18, abs=0.015)


def test_leaving_out_one_block_moves_the_bronze_medal():
    tournament = thesis_cub200.tournament()
    podiums = leave_one_out_podiums(tournament.names, tournament.block_labels, tournament.ranks_BC)
    assert [p.left_out for p in podiums] == list(tournament.block_labels)
    third = Counter(name for p in podiums for place, name in p.podium if place == 3)
    assert third == {"MultiSimilarity": 5, "Contrastive": 5, "LiftedStructure": 2}
    assert {p.podium[0] for p in podiums} == {(1, "ProxyAnchor")}


def test_one_block_cannot_be_left_out():
    assert leave_one_out_podiums(["a", "b"], ["p"], np.array([[1.0, 2.0]])) == ()


def test_equal_seeds_give_equal_numbers_and_others_do_not():
    tournament = thesis_cub200.tournament()

    def lows(seed):
        result = bootstrap_ranks(tournament.names, tournament.ranks_BC, replicates=50, seed=seed)
        return [c.low for c in result.competitors]

    assert lows(3) == lows(3)
    assert lows(3) != lows(4)


def test_three_clusters_show_sensitivity_and_no_confidence():
    tournament = thesis_cub200.tournament()
    clusters = [(block["dataset"], block["backbone"]) for block in tournament.blocks]
    clustered = bootstrap_ranks(tournament.names, tournament.ranks_BC, clusters=clusters)
    plain = bootstrap_ranks(tournament.names, tournament.ranks_BC)
    assert (clustered.num_clusters, clustered.is_sensitivity) == (3, True)
    assert (plain.num_clusters, plain.is_sensitivity) == (12, False)
    width = [c.high - c.low for c in clustered.competitors]
    assert sum(width) > sum(c.high - c.low for c in plain.competitors)


def test_two_competitors_both_reach_the_first_three_places():
    ranks = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    result = bootstrap_ranks(["a", "b"], ranks, replicates=100)
    assert [c.p_top_three for c in result.competitors] == [1, 1]

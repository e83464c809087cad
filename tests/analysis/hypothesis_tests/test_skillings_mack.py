import numpy as np
import pytest
from scipy import stats

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.friedman import friedman_test
from podium.analysis.hypothesis_tests.skillings_mack import available_ranks, skillings_mack

NA = np.nan
# Skillings and Mack 1981, table 1: times of assembly, three missing of nine workers.
ASSEMBLY = np.array(
    [
        [3.2, 4.1, 3.8, 4.2],
        [3.1, 3.9, 3.4, 4.0],
        [4.3, 3.5, 4.6, 4.8],
        [3.5, 3.6, 3.9, 4.0],
        [3.6, 4.2, 3.7, 3.9],
        [4.5, 4.7, 3.7, NA],
        [NA, 4.2, 3.4, NA],
        [4.3, 4.6, 4.4, 4.9],
        [3.5, NA, 3.7, 3.9],
    ]
)


def slow_skillings_mack(scores):
    """The statistic by its definition, one block and one competitor at a time."""
    num = scores.shape[1]
    sums, covariance = np.zeros(num), np.zeros((num, num))
    for row in scores:
        present = [c for c in range(num) if not np.isnan(row[c])]
        if len(present) < 2:
            continue
        ranks = stats.rankdata([-row[c] for c in present])
        for c, rank in zip(present, ranks, strict=True):
            sums[c] += np.sqrt(12 / (len(present) + 1)) * (rank - (len(present) + 1) / 2)
        for a in present:
            for b in present:
                if a != b:
                    covariance[a, b] -= 1
                    covariance[a, a] += 1
    return sums @ np.linalg.pinv(covariance) @ sums


def scores_with_holes(seed, num_blocks=9, num=4, values=None):
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(num_blocks, num))
    if values:
        scores = generator.integers(values, size=(num_blocks, num)).astype(float)
    scores[generator.random(scores.shape) < 0.25] = NA
    return scores


def test_the_published_example_has_its_published_statistic():
    found = skillings_mack(ASSEMBLY)
    assert found.statistic == pytest.approx(15.493, abs=5e-4)
    assert found.degrees_of_freedom == 3
    assert found.p_value == pytest.approx(0.00144, abs=5e-6)
    assert found.permutation_p_value < 0.001
    assert found.num_blocks == 9


@pytest.mark.parametrize("seed", range(8))
def test_the_statistic_is_that_of_the_definition_with_holes_and_ties(seed):
    scores = scores_with_holes(seed, values=3 if seed % 2 else None)
    found = skillings_mack(scores)
    assert found.statistic == pytest.approx(slow_skillings_mack(scores))
    assert found.p_value == pytest.approx(stats.chi2.sf(slow_skillings_mack(scores), 3))


@pytest.mark.parametrize("seed", range(3))
def test_without_holes_and_ties_it_is_friedmans(seed):
    scores = np.random.default_rng(seed).normal(size=(6, 5))
    expected = friedman_test(average_ranks(scores))
    found = skillings_mack(scores)
    assert found.statistic == pytest.approx(stats.friedmanchisquare(*scores.T).statistic)
    # Both are counted over 9,999 random permutations of their own.
    assert found.permutation_p_value == pytest.approx(expected.permutation_p_value, abs=0.025)


def test_rows_columns_and_empty_blocks_do_not_matter():
    scores = scores_with_holes(3)
    more = np.vstack([scores, np.full(4, NA), [1.0, NA, NA, NA]])
    for other in (scores[::-1], scores[:, ::-1], more):
        assert skillings_mack(other).statistic == pytest.approx(skillings_mack(scores).statistic)
        assert skillings_mack(other).num_blocks == skillings_mack(scores).num_blocks


@pytest.mark.parametrize(
    "scores",
    [
        np.ones((5, 4)),
        np.array([[1, 2, NA, NA], [2, 1, NA, NA], [NA, NA, 1, 2], [NA, NA, 1, 2]]),
        np.array([[1.0, 2.0], [2.0, 1.0]]),
        np.array([[1.0, 2.0, 3.0], [NA, NA, 1.0]]),
    ],
    ids=["nothing but ties", "no common block", "two competitors", "one block"],
)
def test_what_is_not_defined_is_none(scores):
    assert skillings_mack(scores) is None


def test_equal_competitors_with_holes_are_called_different_as_often_as_alpha(monkeypatch):
    monkeypatch.setattr("podium.analysis.hypothesis_tests.skillings_mack._PERMUTATIONS", 199)
    rounds = 400
    found = [
        skillings_mack(scores_with_holes(1000 + seed, num_blocks=8)) for seed in range(rounds)
    ]
    share = np.mean([test.permutation_p_value <= 0.05 for test in found])
    assert share == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / rounds))


def test_ranks_of_what_is_there_name_how_many_blocks_they_are_over():
    scores = np.array([[3, 2, 1], [NA, 5, 4], [1, NA, NA], [2, 2, NA]])
    a, b, c = sorted(available_ranks(["a", "b", "c"], scores), key=lambda rank: rank.competitor)
    assert (a.average_rank, a.num_blocks) == ((1 + 1.5) / 2, 2)
    assert (b.average_rank, b.num_blocks) == ((2 + 1 + 1.5) / 3, 3)
    assert (c.average_rank, c.num_blocks) == ((3 + 2) / 2, 2)
    # Beaten by none of two and by half of one; one of two, none of one, half of one; all, all.
    assert (a.beaten_by, b.beaten_by, c.beaten_by) == (0.25, pytest.approx(1 / 3), 1.0)


def test_the_least_beaten_comes_first_and_the_one_without_comparisons_last():
    scores = np.array([[1, 2, NA], [1, 2, NA], [NA, NA, 3]])
    found = available_ranks(["a", "b", "c"], scores)
    assert [rank.competitor for rank in found] == ["b", "a", "c"]
    assert (found[2].average_rank, found[2].beaten_by, found[2].num_blocks) == (None, None, 0)


def test_the_order_is_by_the_weighted_ranks_of_the_definition_and_a_hole_is_the_middle():
    scores = np.array([[9.0, 8.0, 7.0, 6.0], [np.nan, 8.0, 7.0, np.nan], [np.nan, 8.0, 7.0, 9.0]])
    found = {one.competitor: one.rank_sum for one in available_ranks(list("abcd"), scores)}

    four, two, three = (np.sqrt(12 / (size + 1)) for size in (4, 2, 3))
    assert found == pytest.approx(
        {
            "b": four * (2 - 2.5) + two * (1 - 1.5) + three * (2 - 2),
            "a": four * (1 - 2.5),
            "c": four * (3 - 2.5) + two * (2 - 1.5) + three * (3 - 2),
            "d": four * (4 - 2.5) + three * (1 - 2),
        }
    )
    assert list(found) == sorted(found, key=found.get)


def test_first_in_the_only_block_that_has_it_does_not_lead_over_all():
    scores = np.full((6, 3), 1.0) + np.arange(3)[::-1]
    scores[1:, 0] = np.nan
    order = [one.competitor for one in available_ranks(["rare", "often", "last"], scores)]
    assert order[0] == "often"

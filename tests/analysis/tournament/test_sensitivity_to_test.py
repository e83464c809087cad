"""The same table under several tests, the declared one among them."""

import json

import numpy as np
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.tournament.block_runs import BlockRuns, pooled_std, run_scores
from analysis.tournament.sensitivity_to_test import sensitivity_to_test
from analysis.tournament.sensitivity_to_test_text import (
    agreement_text,
    sensitivity_record,
    sensitivity_sentences,
)
from tests.analysis import thesis_cub200
from tests.analysis.tournament.small_tournaments import grid_tournament, tournament_of


def agreement_of(tournament):
    return agreement_text(tournament, sensitivity_to_test(tournament))


def spread(seed, num_blocks=12, num=5):
    return np.random.default_rng(seed).normal(size=(num_blocks, num)) - np.linspace(0, 2, num)


@pytest.fixture(scope="module")
def thesis_tests():
    tournament = thesis_cub200.independent()
    return tournament, sensitivity_to_test(tournament)


def test_one_table_of_the_thesis_has_five_verdicts(thesis_tests):
    found = {test.test: len(test.different_pairs) for test in thesis_tests[1].tests}
    assert found == {
        "wilcoxon_holm": 26,
        "permutation_holm": 26,
        "nemenyi": 14,
        "anova_t_holm": 27,
        "bayesian_signed_rank": 40,
    }


def test_by_nemenyi_alone_the_first_two_of_the_thesis_do_not_differ(
    thesis_tests,
):
    found = {test.test: test.not_different_from_first for test in thesis_tests[1].tests}
    assert found.pop("nemenyi")[0] == "SoftTriple"
    assert set(found.values()) == {()}
    assert (
        "All but Nemenyi find the first significantly different from all behind it."
        in agreement_text(*thesis_tests)
    )
    assert (
        "All 5 tests find 14 of 45 pairs significantly different; of 26 more the verdict depends "
        "on the test." in agreement_text(*thesis_tests)
    )


def test_medals_depend_on_each_test_alone(thesis_tests):
    kept = {
        test.test: [not medal.not_significantly_different for medal in test.medals]
        for test in thesis_tests[1].tests
    }
    assert kept["wilcoxon_holm"] == [True, False, False]
    assert kept["nemenyi"] == [False, False, False]
    assert kept["bayesian_signed_rank"] == [True, True, False]


@pytest.mark.parametrize("seed", range(4))
def test_each_test_is_that_of_its_oracle(seed):
    tournament = tournament_of(spread(seed))
    scores, names = tournament.scores_BC, tournament.names
    a, b = np.triu_indices(5, k=1)
    raw = {
        "wilcoxon_holm": [
            stats.wilcoxon(x, y, method="exact").pvalue
            for x, y in zip(scores.T[a], scores.T[b], strict=True)
        ],
        "anova_t_holm": stats.ttest_rel(scores[:, a], scores[:, b]).pvalue,
    }
    rejected = {test: multipletests(p, method="holm")[1] <= 0.05 for test, p in raw.items()}
    rejected["nemenyi"] = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()[a, b] <= 0.05
    found = {
        test.test: set(test.different_pairs) for test in sensitivity_to_test(tournament).tests
    }
    for test, verdicts in rejected.items():
        expected = {(names[i], names[j]) for i, j, yes in zip(a, b, verdicts, strict=True) if yes}
        assert found[test] == expected


def test_groups_of_blocks_are_tested_as_so_many_blocks_of_their_means():
    scores = spread(7, num_blocks=18)
    datasets = np.repeat(list("uvwxyz"), 3)
    grouped = grid_tournament(scores, datasets)
    columns = [list("abcdefgh").index(name) for name in grouped.names]
    means = np.array([scores[datasets == name].mean(axis=0) for name in "uvwxyz"])
    found = sensitivity_to_test(grouped)
    a, b = np.triu_indices(5, k=1)
    gaps = means[:, columns]
    raw = stats.ttest_rel(gaps[:, a], gaps[:, b]).pvalue
    rejected = multipletests(raw, method="holm")[1] <= 0.05
    t_test = next(test for test in found.tests if test.test == "anova_t_holm")
    assert set(t_test.different_pairs) == {
        (grouped.names[i], grouped.names[j])
        for i, j, yes in zip(a, b, rejected, strict=True)
        if yes
    }
    alone = sensitivity_to_test(tournament_of(means))
    assert found.anova.p_value == pytest.approx(alone.anova.p_value)


def test_with_three_groups_no_test_of_signs_or_ranks_finds_a_pair():
    found = sensitivity_to_test(thesis_cub200.tournament())
    different = {test.test: len(test.different_pairs) for test in found.tests}
    assert (different["wilcoxon_holm"], different["permutation_holm"]) == (0, 0)
    assert all(one.low is None for one in found.superiorities)
    text = " ".join(sensitivity_sentences(thesis_cub200.tournament(), found))
    assert "No pair is significantly different by all 5 tests" in text
    assert "With 3 groups these probabilities say little" in text


@pytest.mark.parametrize("test", ["wilcoxon_holm", "nemenyi", "permutation_holm"])
def test_the_declared_test_comes_first_and_is_the_one_that_decides(test):
    tournament = tournament_of(spread(1), test=test)
    first, *others = sensitivity_to_test(tournament).tests
    assert (first.test, first.is_primary) == (test, True)
    assert not any(other.is_primary for other in others)
    different = {(pair.a, pair.b) for pair in tournament.pairs if pair.differs(tournament.alpha)}
    assert set(first.different_pairs) == different
    joined = {frozenset((x, y)) for group in tournament.groups for x in group for y in group}
    assert not joined & set(map(frozenset, different))


def test_the_others_say_the_same_whichever_was_declared():
    verdicts = [
        {
            t.test: t.different_pairs
            for t in sensitivity_to_test(tournament_of(spread(2), test=test)).tests
        }
        for test in ("wilcoxon_holm", "nemenyi", "permutation_holm")
    ]
    assert verdicts[0] == verdicts[1] == verdicts[2]


def test_identical_competitors_differ_under_no_test():
    column = np.random.default_rng(3).normal(size=(10, 1))
    found = sensitivity_to_test(tournament_of(np.tile(column, (1, 4))))
    assert [test.different_pairs for test in found.tests] == [()] * 5
    assert np.isnan(found.anova.p_value)
    json.dumps(sensitivity_record(tournament_of(np.tile(column, (1, 4))), found))


def test_equal_competitors_differ_at_most_as_often_as_alpha():
    rounds = 50
    alarms = dict.fromkeys(("wilcoxon_holm", "permutation_holm", "nemenyi", "anova_t_holm"), 0)
    for seed in range(rounds):
        scores = np.random.default_rng(100 + seed).normal(size=(9, 4))
        for test in sensitivity_to_test(tournament_of(scores)).tests:
            if test.test in alarms:
                alarms[test.test] += bool(test.different_pairs)
    limit = 0.05 * rounds + 4 * np.sqrt(rounds * 0.05 * 0.95)
    assert max(alarms.values()) <= limit


def test_two_competitors_have_no_nemenyi_and_one_block_nothing():
    found = sensitivity_to_test(tournament_of(spread(4, num=2)))
    assert "nemenyi" not in {test.test for test in found.tests}
    assert sensitivity_to_test(tournament_of(spread(4, num_blocks=1))) is None


def block(scores_UC):
    scores = np.array(scores_UC, dtype=float)
    has_run = ~np.isnan(scores)
    return BlockRuns(
        sums_UC=np.nan_to_num(scores) * has_run, weights_UC=has_run * 1.0, is_exact=False
    )


def test_the_region_is_the_pooled_deviation_of_runs_unless_one_was_declared():
    tournament = tournament_of([[3, 1], [2, 4]])
    runs = (block([[3, 1], [5, 1], [4, np.nan]]), block([[2, 4], [4, np.nan], [np.nan] * 2]))
    expected = np.sqrt((2 + 0 + 2) / (2 + 1 + 1))
    assert pooled_std(run_scores(tournament, runs)) == pytest.approx(expected)
    found = sensitivity_to_test(tournament, runs)
    assert (found.rope, found.rope_source) == (pytest.approx(expected), "seeds")
    assert sensitivity_to_test(tournament, runs, scale=100).rope == pytest.approx(100 * expected)
    declared = sensitivity_to_test(tournament, runs, rope=0.5)
    assert (declared.rope, declared.rope_source) == (0.5, "declared")
    assert sensitivity_to_test(tournament).rope_source == "none"


def test_records_and_sentences_have_what_was_found(thesis_tests):
    tournament, found = thesis_tests
    record = sensitivity_record(tournament, found)
    assert [test["num_different"] for test in record["tests"]] == [26, 26, 14, 27, 40]
    assert record["pairs"][0]["a"] == "ProxyAnchor"
    assert record["pairs"][0]["superiority"] == 1
    masses = [record["pairs"][9][name] for name in ("p_a_better", "p_rope", "p_b_better")]
    assert sum(masses) == pytest.approx(1)
    assert record["competitors"][0]["estimate"] == pytest.approx(3.7125)
    text = " ".join(sensitivity_sentences(tournament, found))
    assert "ProxyAnchor against SoftTriple: P(a run of it scores higher) = 1.00" in text
    assert "95 % interval 0.71 to 1.00" in text


def test_few_blocks_are_warned_of():
    tournament = tournament_of(spread(5, num_blocks=4))
    text = " ".join(sensitivity_sentences(tournament, sensitivity_to_test(tournament)))
    assert "With 4 blocks these probabilities say little" in text


def test_verdicts_of_the_bayesian_test_on_few_blocks_are_warned_of_where_they_are_counted():
    text = agreement_of(tournament_of([[9, 5, 1], [9, 5, 1]]))
    # Different by the Bayesian test, which hardly any other can be with 2 blocks.
    assert "No pair is significantly different by all 5 tests, and 3 of 3 pairs by some." in text
    assert "With 2 blocks the verdicts of the Bayesian test say little" in text
    assert "say little" not in agreement_of(tournament_of(spread(5, num_blocks=6)))


def test_the_few_tests_by_which_the_first_differs_are_named_and_not_the_many_others():
    text = agreement_of(tournament_of([[9, 5, 1], [9, 5, 1]]))
    assert (
        "Only ANOVA with t–Holm and Bayesian signed-rank find the first significantly different "
        "from all behind it." in text
    )


def test_tests_that_all_find_nothing_are_said_to():
    mixed = [[3, 2, 1], [1, 2, 3], [2, 3, 1], [1, 3, 2], [3, 1, 2], [2, 1, 3]]
    assert agreement_of(tournament_of(mixed)) == (
        "None of 5 tests finds any of 3 pairs significantly different."
    )


def test_a_last_place_has_none_behind_to_share_it():
    found = sensitivity_to_test(tournament_of(spread(6, num=3)))
    assert {tuple(medal.place for medal in test.medals) for test in found.tests} == {(1, 2)}


def test_tests_that_agree_are_said_to():
    scores = np.random.default_rng(0).normal(size=(40, 4)) - 9 * np.arange(4)
    assert agreement_of(tournament_of(scores)) == (
        "All 5 tests find the same 6 of 6 pairs significantly different. All of them find the "
        "first significantly different from all behind it."
    )

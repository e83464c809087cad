from dataclasses import replace

import pytest
from scipy import stats

from orchestrator.planning.study_plan import plan
from orchestrator.results.records.tournament_rules import TournamentRules
from orchestrator.study.study import StudyLoss
from podium.plan.primary_test import verdict_note, verdict_record
from tests.orchestrator.study_files import load

DIMS = "[8, 16, 24, 32, 40, 48, 56, 64]"
TEXT = f"study: x\nlosses: [contrastive, triplet, proxy_anchor]\nembedding_dims: {DIMS}\n"


@pytest.fixture
def loaded_study(tmp_path):
    return load(tmp_path, TEXT)


def plan_with_rules(study, **rules):
    return plan(replace(study, tournament=TournamentRules(**rules)))


def test_the_smallest_p_is_that_of_a_clean_sweep_times_the_pairs(loaded_study):
    sweep = stats.wilcoxon(range(1, 9), method="exact").pvalue
    for test in ("wilcoxon_holm", "permutation_holm"):
        assert verdict_record(plan_with_rules(loaded_study, test=test))[
            "smallest_p"
        ] == pytest.approx(3 * sweep)


def test_of_nemenyi_it_is_that_of_always_first_and_always_last(loaded_study):
    q = 2 / (3 * 4 / (6 * 8)) ** 0.5 * 2**0.5
    expected = stats.studentized_range.sf(q, 3, 1e9)
    record = verdict_record(plan_with_rules(loaded_study, test="nemenyi"))
    assert record["smallest_p"] == pytest.approx(expected, rel=1e-3)
    assert record["tournament"]["test"] == "nemenyi"


def test_the_plan_says_which_test_will_decide_and_how_small_its_p_can_be(loaded_study):
    printed = verdict_note(plan_with_rules(loaded_study))
    assert "by the primary test (two-sided Wilcoxon, Holm-adjusted) at 0.05" in printed
    assert printed.endswith("with 8 blocks and 3 losses the smallest p of a pair is 0.023.")
    assert "(Nemenyi) at 0.01" in verdict_note(
        plan_with_rules(loaded_study, test="nemenyi", alpha=0.01)
    )


def test_out_of_reach_it_says_how_many_blocks_it_takes(loaded_study):
    few = replace(loaded_study, embedding_dims=(8, 16))
    assert "no difference can be significant. It takes 7 blocks." in verdict_note(
        plan_with_rules(few)
    )
    few_nemenyi = verdict_note(plan_with_rules(few, test="nemenyi"))
    needed = next(
        n
        for n in range(2, 99)
        if stats.studentized_range.sf(2 / (2 / n) ** 0.5 * 2**0.5, 3, 1e9) <= 0.05
    )
    assert f"It takes {needed} blocks." in few_nemenyi


def test_one_loss_has_none_to_differ_from(loaded_study):
    alone = plan_with_rules(replace(loaded_study, losses=(StudyLoss("contrastive"),)))
    assert verdict_note(alone) == "with one loss there is nothing to compare."
    assert verdict_record(alone)["smallest_p"] is None

from dataclasses import replace

import pytest
from scipy import stats

from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.results.records.tournament_rules import TournamentRules
from podium.orchestrator.study.study import StudyLoss
from podium.plan.primary_test import smallest_adjusted_p, verdict_line
from tests.orchestrator.study_files import load

SCRIPTS = ("latin", "greek", "cyrillic", "armenian")
TEXT = f"""
study: x
losses: [contrastive, triplet, proxy_anchor]
datasets: [{", ".join(f"{{name: glyphs, script: {script}}}" for script in SCRIPTS)}]
backbones: [conv_small, {{name: resnet18, weights: random}}]
embedding_dims: [8]
"""


@pytest.fixture
def loaded_study(tmp_path):
    return load(tmp_path, TEXT)


def plan_with_rules(study, **rules):
    return plan(replace(study, tournament=TournamentRules(**rules)))


def test_the_smallest_p_is_that_of_a_clean_sweep_times_the_pairs(loaded_study):
    sweep = stats.wilcoxon(range(1, 9), method="exact").pvalue
    for test in ("wilcoxon_holm", "permutation_holm"):
        smallest = smallest_adjusted_p(plan_with_rules(loaded_study, test=test))
        assert smallest == pytest.approx(3 * sweep)


def test_of_nemenyi_it_is_that_of_always_first_and_always_last(loaded_study):
    q = 2 / (3 * 4 / (6 * 8)) ** 0.5 * 2**0.5
    expected = stats.studentized_range.sf(q, 3, 1e9)
    smallest = smallest_adjusted_p(plan_with_rules(loaded_study, test="nemenyi"))
    assert smallest == pytest.approx(expected, rel=1e-3)


def test_the_plan_says_how_small_the_p_of_the_primary_test_can_be(loaded_study):
    printed = verdict_line(plan_with_rules(loaded_study))
    assert printed == (
        "losses can differ significantly at 0.05: the smallest p of 3 losses over 8 blocks is"
        " 0.023"
    )


def test_asked_of_these_blocks_runs_count(loaded_study):
    here = plan_with_rules(loaded_study, question="these_blocks")
    assert "of 3 losses over 24 runs of 8 blocks is" in verdict_line(here)
    single = replace(
        loaded_study,
        backbones=loaded_study.backbones[:1],
        datasets=loaded_study.datasets[:1],
    )
    assert verdict_line(plan_with_rules(single, question="these_blocks")).endswith(
        "no difference can be significant at 0.05: the smallest p of 3 losses over 3 runs of 1"
        " block is 0.75. It takes 7 runs: 4 more runs would do."
    )


def test_out_of_reach_it_says_how_many_blocks_it_takes(loaded_study):
    few = replace(loaded_study, backbones=loaded_study.backbones[:1])
    assert verdict_line(plan_with_rules(few)).endswith(
        "the smallest p of 3 losses over 4 blocks is 0.38. It takes 7 blocks: 3 more blocks would"
        " do."
    )
    fewer = replace(few, datasets=few.datasets[:2])
    needed = next(
        n
        for n in range(2, 99)
        if stats.studentized_range.sf(2 / (2 / n) ** 0.5 * 2**0.5, 3, 1e9) <= 0.05
    )
    assert verdict_line(plan_with_rules(fewer, test="nemenyi")).endswith(
        f"It takes {needed} blocks: 1 more block would do."
    )


@pytest.mark.parametrize("dims", [(8, 16), (8, 16, 24, 32)])
def test_dimensions_of_one_data_set_and_backbone_are_one_group(loaded_study, dims):
    one = replace(
        loaded_study,
        datasets=loaded_study.datasets[:3],
        backbones=loaded_study.backbones[:1],
        embedding_dims=dims,
    )
    assert verdict_line(plan_with_rules(one)).endswith(
        "the smallest p of 3 losses over 3 groups of blocks with one data set and backbone is"
        " 0.75. It takes 7 groups: 4 more data sets or backbones would do."
    )
    # 3 pairs * 2 / 2^3
    assert smallest_adjusted_p(plan_with_rules(one)) == pytest.approx(0.75)


def test_one_loss_has_none_to_differ_from(loaded_study):
    alone = plan_with_rules(replace(loaded_study, losses=(StudyLoss("contrastive"),)))
    assert verdict_line(alone) == "none: with one loss there is nothing to compare"
    assert smallest_adjusted_p(alone) is None

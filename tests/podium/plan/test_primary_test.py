from dataclasses import replace

import pytest

from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.results.records.tournament_rules import TournamentRules
from podium.plan.primary_test import smallest_p, verdict_line
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


def test_the_smallest_p_is_that_of_a_clean_sweep(loaded_study):
    six = replace(loaded_study, datasets=(loaded_study.datasets * 2)[:6])
    blocks = [replace(block, dataset=f"d{n // 2}") for n, block in enumerate(plan(six).blocks)]
    planned = replace(plan(six), blocks=tuple(blocks))
    assert smallest_p(planned) == pytest.approx(2 / 2**6)
    assert verdict_line(planned) == (
        "tested at 0.05 over 6 data sets, where the smallest p is 0.031. Would the order hold on"
        " other data sets, with these backbones?"
    )


def test_with_few_data_sets_and_backbones_a_ranking_is_all(loaded_study):
    assert verdict_line(plan(loaded_study)) == (
        "a ranking without a test. Whether that holds on other data sets or backbones is not"
        " tested: it takes 6 data sets or 6 backbones; these are 4 and 2."
    )
    assert smallest_p(plan(loaded_study)) is None


def test_asked_of_these_blocks_runs_count(loaded_study):
    here = plan_with_rules(loaded_study, question="these_blocks")
    assert "over 24 seeds" in verdict_line(here)

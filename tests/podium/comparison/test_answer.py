"""The answer of a comparison in words: won, lost, undecided, one opponent, a loss that fails."""

import hashlib
from dataclasses import replace

import pytest

from podium.analysis.study_results.study_results import read_results
from podium.comparison.answer import answer_text, differences_of
from podium.comparison.design import comparison_keys
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.errors import Diverged
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here

OWN, OTHER, THIRD = "triplet", "contrastive", "n_pair"


def trial_of(skills):
    """Simulated trials whose recalls are the skill of their loss, give or take some points."""

    def trial(settings, **more):
        skill = skills.get(settings.loss, 0.1)
        if skill is None:
            raise Diverged("the loss is nan", fold=0, epoch=1)
        text = f"{settings.loss} {sorted(settings.dataset.options.items())}"
        hits = round(200 * (skill + hashlib.sha256(text.encode()).digest()[0] / 2560))
        for report in simulated_trial(settings, **more):
            scores = [
                replace(score, value=hits / 200, hits=hits) if score.metric == "recall" else score
                for score in report.scores
            ]
            yield replace(report, scores=tuple(scores))

    return trial


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """A function that runs losses of some skill and gives results, differences and answer."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(stronger="podium compare triplet --minutes 5", unsearched=(), **skills):
        keys = comparison_keys(OWN, [name for name in skills if name != OWN], minutes=1, data=None)
        keys |= {"search": {"trials": 1}, "datasets": keys["datasets"][:8]}
        study = load_study(keys)
        run_here(study, tmp_path, InProcessExecutor(trial_of(skills)))
        results = read_results(tmp_path / study.name)
        against = differences_of(results, OWN)
        text = answer_text(results, OWN, against, stronger=stronger, unsearched=unsearched)
        return against, " ".join(text.split())

    return run


def test_a_clear_win(answered):
    against, text = answered(triplet=0.6, contrastive=0.2, n_pair=0.3)
    assert [one.opponent for one in against] == [THIRD, OTHER]
    assert all(one.is_different and one.num_wins == 8 for one in against)
    assert all(one.low > 0 and one.low < one.difference < one.high for one in against)
    assert "triplet has rank 1 of 3 over 8 data sets, with an average rank of 1.00." in text
    assert (
        "triplet is significantly better than n_pair (p = 0.008) and contrastive (p = 0.008)"
        in text
    )
    assert "A stronger comparison: podium compare triplet --minutes 5" in text
    assert text.count("8 of 8") == 2


def test_undecided_says_what_would_decide_and_which_hyperparameters_were_not_searched(answered):
    against, text = answered(triplet=0.4, contrastive=0.4, n_pair=0.7, unsearched=("margin",))
    undecided = next(one for one in against if one.opponent == OTHER)
    assert not undecided.is_different
    assert undecided.low < 0 < undecided.high
    assert "It is not shown to be worse than contrastive (p" in text
    assert "For a surer answer, run: podium compare triplet --minutes 5" in text
    assert "only learning rates were searched, not margin" in text
    assert "search_space = {'margin': {'low': ..., 'high': ...}}" in text


def test_a_loss_of_which_every_trial_failed_is_not_ranked(answered):
    against, text = answered(triplet=None, contrastive=0.4, n_pair=0.5)
    assert against == ()
    assert "triplet has no tested winner and is not ranked." in text
    assert "failed (diverged" in text
